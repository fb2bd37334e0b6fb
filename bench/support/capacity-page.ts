// The tables of docs/capacity.md, from what was measured: what a replica carries, what the chart asks for, what Redis needs. Knows no gateway.
import { readFileSync, writeFileSync } from 'node:fs';
import { short, tableOf } from './figures.js';

const PAGE = new URL('../../docs/capacity.md', import.meta.url);
/** Of a core that may be used, and of the request of the chart; cores. */
const USED = 0.7;
const REQUEST = 0.25;
/** Frames a second of a person who types and reads, and of an agent. */
const PERSON = 2;
const AGENT = 10;
const LINE_BYTES = 80;
const LARGEST_FRAME = 64 * 1024;
const MOST_SESSIONS = 1000;

/** In the units of the table. */
export interface Capacity {
  readonly sessions: number;
  readonly attachments: number;
  readonly aloneMiB: number;
  readonly sessionKiB: number;
  readonly attachmentKiB: number;
  readonly beginMs: number;
  readonly joinMs: number;
  /** Of a core. */
  readonly quietPercent: number;
  readonly watchedPercent: number;
  readonly frameMs: number;
  readonly frameToFiveMs: number;
  readonly megabyteMs: number;
  readonly afterMiB: number;
  readonly redisSessionKiB: number;
  readonly redisFrameBytes: number;
  readonly redisCommands: number;
  readonly redisFrameMs: number;
  readonly redisMegabyteMs: number;
}

/** Two figures are as many as a derived number has. */
const about = (value: number): string => Number(value.toPrecision(2)).toLocaleString('en-US', { maximumFractionDigits: 1 });
const memoryOf = (c: Capacity, sessions: number): number => c.aloneMiB + (sessions * c.sessionKiB) / 1024;
/** Frames a second that this much of a core takes. */
const framesOn = (cores: number, { frameMs }: Capacity): number => (cores * 1000) / frameMs;

/** By the name of their place in the page. */
export function blocksOf(c: Capacity, where: string): Readonly<Record<string, string>> {
  return {
    replica: `${where}.\n\n${coefficients(c)}`,
    carries: carries(c),
    chart: chart(c),
    redis: redis(c),
    kept: kept(c),
  };
}

/** Puts the tables where the page has room for them. Throws if it lacks one of the places. */
export function writePage(c: Capacity, where: string): void {
  let page = readFileSync(PAGE, 'utf8');
  for (const [name, text] of Object.entries(blocksOf(c, where))) {
    const [begin, end] = [`<!-- ${name}: begin -->`, `<!-- ${name}: end -->`];
    const [from, to] = [page.indexOf(begin), page.indexOf(end)];
    if (from < 0 || to < from) throw new Error(`docs/capacity.md has no place for ${name}`);
    page = `${page.slice(0, from)}${begin}\n\n${text}\n\n${page.slice(to)}`;
  }
  writeFileSync(PAGE, page);
}

function coefficients(c: Capacity): string {
  return tableOf(
    ['what', 'coefficient', 'name'],
    [
      ['the gateway alone', `${short(c.aloneMiB)} MiB`, '`m₀`'],
      ['a running session that prints nothing', `${short(c.sessionKiB / 1024)} MiB`, '`m₁`'],
      ['an idle attachment', `${short(c.attachmentKiB)} KiB`, '`m₂`'],
      ['beginning a session', `${short(c.beginMs)} ms of CPU`, '`c₁`'],
      ['joining a session', `${short(c.joinMs)} ms of CPU`, '`c₂`'],
      [`${c.sessions} idle sessions`, `${short(c.quietPercent)} % of a core`, ''],
      [`${c.sessions} idle sessions with ${c.attachments} idle attachments`, `${short(c.watchedPercent)} % of a core`, ''],
      ['a frame that comes alone, to one attachment', `${short(c.frameMs)} ms of CPU`, '`c₃`'],
      ['a frame that comes alone, to five', `${short(c.frameToFiveMs)} ms of CPU`, ''],
      ['a megabyte of continuous output', `${short(c.megabyteMs)} ms of CPU`, '`c₄`'],
      ['after all these, and a flood', `${short(c.afterMiB)} MiB`, ''],
    ],
  );
}

function carries(c: Capacity): string {
  return tableOf(
    [`one core, ${USED * 100} % of it used`, 'carries'],
    [
      [
        'sessions in which nothing happens',
        `MAX_SESSIONS_PER_REPLICA (${MOST_SESSIONS.toLocaleString('en-US')}): ${about(memoryOf(c, MOST_SESSIONS))} MiB`,
      ],
      [`people who type and read, ${PERSON} frames/s`, about(framesOn(USED, c) / PERSON)],
      [`agents or logs at ${AGENT} lines/s`, about(framesOn(USED, c) / AGENT)],
      ['continuous output, of all sessions', `${about((USED * 1000) / c.megabyteMs)} MB/s`],
    ],
  );
}

function chart(c: Capacity): string {
  const [agents, people] = [framesOn(REQUEST, c) / AGENT, framesOn(REQUEST, c) / PERSON];
  return tableOf(
    ['value', 'default', 'why'],
    [
      [
        '`resources.requests.cpu`',
        '`250m`',
        `a quarter of a core: ${about(agents)} sessions at ${AGENT} lines/s, or ${about(people)} people, before it competes`,
      ],
      [
        '`resources.requests.memory`',
        '`256Mi`',
        `the gateway, and 100 sessions that print nothing (\`m₀ + 100 m₁\` = ${about(memoryOf(c, 100))} MiB)`,
      ],
      [
        '`resources.limits.memory`',
        '`1Gi`',
        `1,000 sessions of the gateway's own share (${about(memoryOf(c, MOST_SESSIONS))} MiB); **raise it by what your programs need**`,
      ],
      ['`resources.limits.cpu`', 'none', 'a throttled gateway delays every key; the scheduler shares by requests'],
      [
        '`autoscaling.targetCPU`',
        '`70` per cent',
        'of the **request**: at 250m a replica is added at 175m. Request a whole core to fill one first',
      ],
      ['`autoscaling.targetSessions`', '`0` (off)', '200 or so where sessions are alike; needs the Prometheus adapter'],
    ],
  );
}

function redis(c: Capacity): string {
  const most = 1000 / c.redisFrameMs;
  const table = tableOf(
    ['what', 'coefficient', 'name'],
    [
      ['a session, before it prints', `${short(c.redisSessionKiB)} KiB`, '`r₁`'],
      [`a frame of ${LINE_BYTES} bytes that is kept, beside these`, `${about(besides(c))} bytes`, '`r₂`'],
      ['commands of Redis for a frame that comes alone', short(c.redisCommands), '`k`'],
      ['CPU of Redis for it', `${short(c.redisFrameMs)} ms`, ''],
      ['CPU of Redis for a megabyte of a flood', `${short(c.redisMegabyteMs)} ms`, ''],
    ],
  );
  return `${table}\n\nOne core of Redis takes about ${about(most)} frames/s, as many as ${about(most / framesOn(USED, c))} full replicas print.`;
}

const besides = (c: Capacity): number => Math.max(0, c.redisFrameBytes - LINE_BYTES);

function kept(c: Capacity): string {
  const row = (what: string, frames: number, perSecond?: number) => [
    what,
    frames.toLocaleString('en-US'),
    `${about((frames * (besides(c) + LINE_BYTES)) / 2 ** 20)} MiB`,
    perSecond === undefined ? '' : about(perSecond * c.redisCommands),
  ];
  const hour = 3600;
  return tableOf(
    ['with the default retention of a day', 'frames kept', 'memory', 'commands/s'],
    [
      row(`a person, two hours of ${PERSON} frames/s`, 2 * hour * PERSON, PERSON),
      row(`an agent, a line of ${LINE_BYTES} bytes at ${AGENT}/s all day`, 24 * hour * AGENT, AGENT),
      row('the same, kept for an hour', hour * AGENT, AGENT),
      ['a flood of 1 GB', Math.ceil(1e9 / LARGEST_FRAME).toLocaleString('en-US'), '1 GB', ''],
    ],
  );
}
