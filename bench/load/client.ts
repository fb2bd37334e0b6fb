// A load client: a process of its own that does the jobs which it is told, one at a time. Knows who is measured only by a line.
import { setTimeout as later } from 'node:timers/promises';
import { Connection } from './connection.js';
import type { Answer, Ask, Heard, Jobs, Line } from './jobs.js';

/** Milliseconds until a program must have said that it is there. */
const READY_MS = 20_000;
/** Connections that are opened at the same time. */
const AT_ONCE = 8;

let watching: readonly Connection[] = [];
let heardBefore = { bytes: 0, messages: 0 };
let stopped: readonly Connection[] = [];

const jobs: { [J in keyof Jobs]: (ask: Jobs[J]['ask']) => Promise<Jobs[J]['answer']> } = {
  async drain({ line }) {
    const connection = await ready(line);
    const heard = listen([connection]);
    connection.key();
    return heard;
  },

  async echo({ line, keys }) {
    const connection = await ready(line);
    const times: number[] = [];
    for (let key = 0; key < keys; key++) times.push(await untilHeard(connection, () => connection.key()));
    connection.close();
    return times;
  },

  async watch({ lines, stopped: still = 0 }) {
    const all: Connection[] = [];
    while (all.length < lines.length) all.push(...(await Promise.all(lines.slice(all.length, all.length + AT_ONCE).map(member))));
    watching = all.slice(0, all.length - still);
    stopped = all.slice(all.length - still);
    for (const connection of stopped) connection.stop();
    heardBefore = { bytes: sum(watching, 'bytes'), messages: sum(watching, 'messages') };
    return watching.length;
  },

  async watched() {
    const { bytes, messages, ...rest } = await listen(watching);
    return { ...rest, bytes: bytes - heardBefore.bytes, messages: messages - heardBefore.messages };
  },

  async unwatch() {
    const all = [...watching, ...stopped];
    for (const connection of all) connection.close();
    watching = stopped = [];
    return all.length;
  },

  async join({ line, times }) {
    const taken: number[] = [];
    for (let time = 0; time < times; time++) {
      const connection = await Connection.open(line);
      taken.push(await untilPictured(connection));
      connection.close();
    }
    return taken;
  },

  async replay({ line }) {
    const connection = await Connection.open(line);
    const heard = listen([connection]);
    connection.join();
    return heard;
  },
};

/** A connection whose program has said that it is there. */
async function ready(line: Line): Promise<Connection> {
  const connection = await Connection.open(line);
  const dot = untilHeard(connection, () => {
    if (line.dialect.startsWith('pty-ws')) connection.join();
  });
  await within(dot, 'the program has said nothing');
  connection.bytes = connection.messages = 0;
  return connection;
}

/** A connection to which all is sent from now on. */
async function member(line: Line): Promise<Connection> {
  const connection = await Connection.open(line);
  if (line.dialect.startsWith('pty-ws')) await within(untilPictured(connection), 'there was no Keyframe');
  return connection;
}

function untilHeard(connection: Connection, doing: () => void): Promise<number> {
  return new Promise((done) => {
    const begun = performance.now();
    connection.heard = () => {
      connection.heard = () => {};
      done(performance.now() - begun);
    };
    doing();
  });
}

/** The Keyframe of a join is the last of it. */
function untilPictured(connection: Connection): Promise<number> {
  return new Promise((done) => {
    const begun = performance.now();
    connection.pictured = () => {
      connection.pictured = () => {};
      done(performance.now() - begun);
    };
    connection.join();
  });
}

async function listen(connections: readonly Connection[]): Promise<Heard> {
  const before = process.cpuUsage();
  const begun = performance.now();
  await Promise.all(connections.map(({ ended }) => ended));
  const ms = performance.now() - begun;
  const [bytes, messages, lags] = [sum(connections, 'bytes'), sum(connections, 'messages'), sum(connections, 'lags')];
  return { bytes, messages, lags, ms, busy: busyOf(before, ms) };
}

function busyOf(before: NodeJS.CpuUsage, ms: number): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000 / ms;
}

const sum = (connections: readonly Connection[], name: 'bytes' | 'messages' | 'lags'): number =>
  connections.reduce((total, connection) => total + connection[name], 0);

async function within<T>(work: Promise<T>, why: string): Promise<T> {
  const late = later(READY_MS, undefined, { ref: false }).then(() => Promise.reject(new Error(`${why} within ${READY_MS} ms`)));
  return Promise.race([work, late]);
}

process.on('message', (ask: Ask) => {
  const done = (answer: Answer) => process.send?.(answer);
  const work = jobs[ask.job] as (ask: Ask) => Promise<Jobs[keyof Jobs]['answer']>;
  work(ask).then(
    (value) => done({ value }),
    (error) => done({ failed: `${error?.message ?? error}` }),
  );
});
