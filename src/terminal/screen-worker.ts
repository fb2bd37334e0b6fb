// The thread that folds screens: orders in, reports out. Knows no session but by a number.
import { parentPort, workerData } from 'node:worker_threads';
import { type Batch, Pulse, type Report } from './screen-messages.js';
import { stepBack } from './step-back.js';
import { Turns } from './turns.js';

const port = parentPort;
if (!port) throw new Error('screen-worker is started by screen-thread.ts, as a thread');

const pulse = new Pulse(workerData as SharedArrayBuffer);
const turns = new Turns(pulse, (reports) => port.postMessage(reports, reports.flatMap(buffersOf)));
let running = false;

/** A snapshot is handed over, not copied, and so is what is given back. */
function buffersOf(report: Report): ArrayBuffer[] {
  if (report.kind === 'spent') return [report.bytes.buffer as ArrayBuffer];
  return report.kind === 'answer' && 'bytes' in report.value ? [report.value.bytes.buffer as ArrayBuffer] : [];
}

// Between two turns the event loop takes what has come in.
function run(): void {
  turns.turn();
  running = !turns.idle;
  if (running) setImmediate(run);
}

port.on('message', (batch: Batch) => {
  turns.take(batch);
  if (!running && !turns.idle) {
    running = true;
    setImmediate(run);
  }
});

stepBack();
// The first beat: the main thread waits for it before it judges.
pulse.rest();
