// What does one more watcher cost? Microseconds of CPU for each 4 KiB frame that it is sent, beside what a bare WebSocket server needs.
import { forEach } from '../load/jobs.js';
import { LoadClient } from '../load/load-client.js';
import { BareServer } from '../peers/bare.js';
import { compile } from '../peers/c-programs.js';
import { Gateway } from '../peers/gateway.js';
import { withCpu } from '../support/cpu.js';
import { before } from '../support/crowd.js';
import { type Arena, type Contender, type Figures, figure, type Question, type Round, ratio } from '../support/question.js';
import { openWorkshop } from '../support/workshop.js';

const FRAME_BYTES = 4096;
/** Milliseconds from one frame to the next: silence enough that none is joined with another. */
const PAUSE_MS = 6;
/** Frames that a program prints at once where it prints several: they go into one write of each socket. */
const TOGETHER = 4;
/** Watchers, and how many frames each is sent. */
const CROWDS: ReadonlyArray<readonly [watchers: number, frames: number]> = [
  [1, 400],
  [8, 400],
  [32, 400],
  [128, 160],
  [512, 80],
];
const CROWD = 32;
/** A figure: CPU of all that the gateway does, for each frame that was printed, in microseconds. */
const CPU = 'CPU µs/frame';

const crowd = (watchers: number, together = 1): string => `${watchers} watchers${together > 1 ? `, ${together} frames at once` : ''}`;

/** What each watcher beyond the first costs, for one frame: the terminal, the log and the screen cost the same for all of them together. */
const more =
  (watchers: number, together = 1) =>
  (round: Round): number | undefined => {
    const [alone, all] = [1, watchers].map((count) => figure(crowd(count, together), CPU)(round));
    return alone === undefined || all === undefined ? undefined : (all - alone) / (watchers - 1);
  };

export const fanOut: Question = {
  name: 'fan-out',
  title: `a session prints ${FRAME_BYTES / 1024} KiB frames, each is sent to all who watch it`,
  budgets: [
    { path: 'fan-out, a watcher of 32, frames in fours', unit: 'µs', must: { atMost: 8 }, aim: { atMost: 5 }, of: more(CROWD, TOGETHER) },
    ...CROWDS.slice(1).map(([watchers]) => ({ path: `fan-out, a watcher of ${watchers}`, unit: 'µs', of: more(watchers) })),
    { path: 'fan-out, bare ws to 32', unit: 'µs', of: figure('bare ws', 'CPU µs/delivery') },
    { path: 'fan-out, all for one watcher', unit: 'µs/frame', of: figure(crowd(1), CPU) },
    { path: 'fan-out, all for 32', unit: '× bare ws', of: ratio('CPU µs/delivery', crowd(CROWD), 'bare ws') },
  ],
  open,
};

async function open(): Promise<Arena> {
  const workshop = openWorkshop();
  const { printer } = compile(workshop.folder);
  const [gateway, load, bare] = [await Gateway.start(), new LoadClient(), await BareServer.start()];
  const own = (watchers: number, frames: number, together = 1): Contender => ({
    name: crowd(watchers, together),
    async measure() {
      const bursts = frames / together;
      const argv = [printer, `${FRAME_BYTES * together}`, `${PAUSE_MS * together * 1000}`, `${bursts}`];
      const heard = await before(gateway, load, argv, { watchers });
      if (heard.bytes !== frames * FRAME_BYTES * watchers) throw new Error(`${heard.bytes} bytes came, ${heard.lags} fell behind`);
      return figuresOf(heard, frames, watchers);
    },
  });
  return {
    contenders: [
      ...CROWDS.map(([watchers, frames]) => own(watchers, frames)),
      ...[1, CROWD].map((watchers) => own(watchers, 400, TOGETHER)),
      { name: 'bare ws', measure: () => bareFigures(bare, load) },
    ],
    async close() {
      await Promise.all([gateway.close(), load.close(), bare.close()]);
      workshop.close();
    },
  };
}

async function bareFigures(bare: BareServer, load: LoadClient): Promise<Figures> {
  const order = { messages: 400, bytes: FRAME_BYTES, pauseMs: PAUSE_MS };
  await load.ask('watch', { lines: forEach(CROWD, bare.line) });
  const { value, cpu } = await withCpu(bare.pid, () => {
    const heard = load.ask('watched', {});
    bare.send(order);
    return heard;
  });
  await load.ask('unwatch', {});
  return figuresOf({ ...value, cpu }, order.messages, CROWD);
}

function figuresOf({ cpu, busy, messages }: { cpu: number; busy: number; messages: number }, frames: number, watchers: number): Figures {
  return {
    [CPU]: (cpu * 1000) / frames,
    'CPU µs/delivery': (cpu * 1000) / (frames * watchers),
    'messages/frame': messages / (frames * watchers),
    'client busy': busy,
  };
}
