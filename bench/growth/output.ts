// What more frames a second cost, and what a longer past does: joining late, and reading its last thousand frames. Knows no picture.
import { setTimeout as later } from 'node:timers/promises';
import { watching } from '../load/jobs.js';
import { LoadClient } from '../load/load-client.js';
import { compile } from '../peers/c-programs.js';
import { Gateway } from '../peers/gateway.js';
import { withCpu } from '../support/cpu.js';
import { starter } from '../support/crowd.js';
import type { Curve } from '../support/curve.js';
import { quantile } from '../support/figures.js';
import { openWorkshop } from '../support/workshop.js';

const RATES = [10, 50, 100, 150, 200];
const RATE_BYTES = 200;
/** Milliseconds for which the CPU is measured. */
const WHILE_MS = 4000;

const LENGTHS = [2000, 4000, 8000, 16_000, 32_000];
/** Frames of a past are as long as one reading of a terminal, and are printed so many at once, with so many milliseconds until the next. */
const [FRAME_BYTES, TOGETHER, PAUSE_MS] = [4096, 4, 6];
/** Of the past, from its end. */
const LAST = 1000;
/** How often a past is read. */
const TIMES = 15;

export async function frameRate(): Promise<Curve[]> {
  const workshop = openWorkshop();
  const { printer } = compile(workshop.folder);
  const [gateway, load] = [await Gateway.start(), new LoadClient()];
  const points: Array<[number, number]> = [];
  // The first warms up.
  for (const rate of [RATES[0] as number, ...RATES]) {
    const line = await gateway.begin([printer, `${RATE_BYTES}`, `${Math.round(1e6 / rate)}`, '0']);
    const typist = await starter(line);
    await load.ask('watch', { lines: [watching(line)] });
    typist.key();
    await later(WHILE_MS / 4);
    const { cpu } = await withCpu(gateway.pid, () => later(WHILE_MS));
    if (rate !== points.at(-1)?.[0]) points.push([rate, (cpu / WHILE_MS) * 100]);
    else points[0] = [rate, (cpu / WHILE_MS) * 100];
    await load.ask('unwatch', {});
    typist.close();
    await gateway.end(line);
  }
  await Promise.all([load.close(), gateway.close()]);
  workshop.close();
  return [{ name: 'CPU of frames of 200 bytes', of: 'frames a second', unit: '% of a core', points }];
}

/** Of sessions that are over, so that all is read from their logs. */
export async function history(): Promise<Curve[]> {
  const workshop = openWorkshop();
  const { printer } = compile(workshop.folder);
  const [gateway, load] = [await Gateway.start(), new LoadClient()];
  const screen: Array<[number, number]> = [];
  const last: Array<[number, number]> = [];
  const all: Array<[number, number]> = [];
  for (const length of LENGTHS) {
    const line = await gateway.begin([printer, `${FRAME_BYTES * TOGETHER}`, `${PAUSE_MS * 1000}`, `${length / TOGETHER}`]);
    const typist = await starter(line);
    typist.key();
    await typist.ended;
    const read = (replayFrom: number | null) => load.ask('replay', { line: { ...line, join: { role: 'observer', replayFrom } } });
    const { messages } = await read(0);
    if (screen.length === 0) await usual(() => read(0)); // so that all is compiled
    screen.push([messages, await usual(() => read(null))]);
    last.push([messages, await usual(() => read(messages - LAST))]);
    all.push([messages, await usual(() => read(0))]);
  }
  await Promise.all([load.close(), gateway.close()]);
  workshop.close();
  const [of, unit] = ['frames kept', 'ms'];
  return [
    { name: 'the screen at a session’s end', of, unit, points: screen },
    { name: 'its last 1,000 frames', of, unit, points: last },
    { name: 'all of its frames', of, unit, points: all },
  ];
}

/** The median of its times, in milliseconds. */
async function usual(read: () => Promise<{ readonly ms: number }>): Promise<number> {
  const taken: number[] = [];
  while (taken.length < TIMES) taken.push((await read()).ms);
  return quantile(taken, 0.5);
}
