// The thread that reads PTYs which print without end: a request in, a block out. Knows no terminal but its descriptor.
import { readSync } from 'node:fs';
import { parentPort } from 'node:worker_threads';
import { MAX_WAIT_MS, READ_BYTES } from './coalesce.js';
import type { Block, Request } from './flood-thread.js';
import { stepBack } from './step-back.js';

const port = parentPort;
if (!port) throw new Error('flood-worker is started by flood-thread.ts, as a thread');

/** Milliseconds between two looks at a PTY that has nothing, and how many of them in a row make it dry. */
const LOOK_MS = 0.1;
const DRY_LOOKS = 5;

const never = new Int32Array(new SharedArrayBuffer(4));

/** Reads until `room` is full, the time is over, or nothing more comes. */
function read(descriptor: number, room: Uint8Array): { length: number; isDry: boolean } {
  const until = performance.now() + MAX_WAIT_MS;
  let [length, looks] = [0, 0];
  while (length + READ_BYTES <= room.length && performance.now() < until) {
    try {
      const count = readSync(descriptor, room, length, READ_BYTES, null);
      if (count === 0) return { length, isDry: true };
      length += count;
      looks = 0;
    } catch {
      if (++looks > DRY_LOOKS) return { length, isDry: true };
      Atomics.wait(never, 0, 0, LOOK_MS);
    }
  }
  return { length, isDry: false };
}

port.on('message', ({ loan, descriptor, bytes }: Request) => {
  const room = new Uint8Array(bytes);
  const { length, isDry } = read(descriptor, room);
  // What is kept of little is little.
  const block = length > bytes / 2 ? room.subarray(0, length) : room.slice(0, length);
  const answer: Block = { loan, block, isDry };
  port.postMessage(answer, [block.buffer]);
});

stepBack();
