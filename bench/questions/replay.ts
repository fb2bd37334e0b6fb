// How fast is the past told again? A replay of 10,000 frames, in MB/s of output, beside a bare server that sends messages as long.
import { LoadClient } from '../load/load-client.js';
import { BareServer } from '../peers/bare.js';
import { compile } from '../peers/c-programs.js';
import { Gateway } from '../peers/gateway.js';
import { withCpu } from '../support/cpu.js';
import { starter } from '../support/crowd.js';
import { type Arena, type Figures, figure, type Question, ratio } from '../support/question.js';
import { openWorkshop } from '../support/workshop.js';

const FRAMES = 10_000;
const FRAME_BYTES = 4096;
/** Frames that are printed at once, and milliseconds until the next: each is read as a frame of its own. */
const [TOGETHER, PAUSE_MS] = [4, 6];
/** Bytes of the TEXT message that a frame is told by. */
const MESSAGE_BYTES = Math.ceil(FRAME_BYTES / 3) * 4 + 200;

export const replay: Question = {
  name: 'replay',
  title: `${FRAMES} frames of ${FRAME_BYTES / 1024} KiB (fewer where the machine is busy) are read from the log and sent as TEXT`,
  budgets: [
    { path: 'replay of 10,000 frames', unit: 'MB/s', must: { atLeast: 100 }, of: figure('gateway', 'MB/s') },
    { path: 'replay of 10,000 frames', unit: '× bare ws', aim: { atLeast: 0.8 }, of: ratio('MB/s', 'gateway', 'bare ws') },
    { path: 'replay, CPU', unit: 'ms/MB', of: figure('gateway', 'CPU ms/MB') },
  ],
  open,
};

async function open(): Promise<Arena> {
  const workshop = openWorkshop();
  const { printer } = compile(workshop.folder);
  const [gateway, load, bare] = [await Gateway.start(), new LoadClient(), await BareServer.start()];
  const line = await gateway.begin([printer, `${FRAME_BYTES * TOGETHER}`, `${PAUSE_MS * 1000}`, `${FRAMES / TOGETHER}`]);
  const typist = await starter(line);
  typist.key();
  await typist.ended;
  return {
    contenders: [
      {
        name: 'bare ws',
        async measure() {
          await load.ask('watch', { lines: [bare.line] });
          const heard = load.ask('watched', {});
          bare.send({ messages: FRAMES, bytes: MESSAGE_BYTES, pauseMs: 0 });
          const { ms, busy } = await heard;
          await load.ask('unwatch', {});
          return { 'MB/s': (FRAMES * FRAME_BYTES) / 1000 / ms, 'client busy': busy };
        },
      },
      {
        name: 'gateway',
        async measure(): Promise<Figures> {
          const job = { line: { ...line, join: { role: 'observer', replayFrom: 0 } } } as const;
          const { value, cpu } = await withCpu(gateway.pid, () => load.ask('replay', job));
          const mb = value.bytes / 1e6;
          if (mb < (FRAMES * FRAME_BYTES) / 1e6) throw new Error(`only ${value.bytes} bytes came again`);
          return { 'MB/s': mb / (value.ms / 1000), frames: value.messages, 'CPU ms/MB': cpu / mb, 'client busy': value.busy };
        },
      },
    ],
    async close() {
      await Promise.all([gateway.close(), load.close(), bare.close()]);
      workshop.close();
    },
  };
}
