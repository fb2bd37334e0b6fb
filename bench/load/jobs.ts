// What a load client is told to do, and what it answers. Knows no socket.

/** Whom to connect to, and how one speaks there. */
export interface Line {
  readonly dialect: 'pty-ws.v1' | 'pty-ws.v1.binary' | 'ttyd' | 'bare';
  readonly url: string;
  readonly token?: string;
  /** As a member of a session; by default it controls and is sent all from the beginning. */
  readonly join?: { readonly role: 'controller' | 'observer'; readonly replayFrom: number | null };
}

/** The same line for so many. */
export const forEach = (count: number, line: Line): Line[] => Array.from({ length: count }, () => line);

/** As one who watches from now on. */
export const watching = (line: Line): Line => ({ ...line, join: { role: 'observer', replayFrom: null } });

/** What was printed, as one or several connections got it. */
export interface Heard {
  /** Bytes of output, of all connections. */
  readonly bytes: number;
  /** Messages with output. */
  readonly messages: number;
  /** From the first that was asked for until the last connection had ended. */
  readonly ms: number;
  /** Times that something was passed over. */
  readonly lags: number;
  /** Of the client while it listened: its share of a core, 0…1. Near 1 it is the client that was measured. */
  readonly busy: number;
}

export interface Jobs {
  /** Types one key and listens until the connection ends. */
  drain: { readonly ask: { readonly line: Line }; readonly answer: Heard };
  /** Types one key after another, each when the one before it came back. Milliseconds. */
  echo: { readonly ask: { readonly line: Line; readonly keys: number }; readonly answer: readonly number[] };
  /** Connects to each of these; answers when all are members, and keeps them. The last `stopped` of them read nothing from then on. */
  watch: { readonly ask: { readonly lines: readonly Line[]; readonly stopped?: number }; readonly answer: number };
  /** What those who watch and were not stopped have heard until their connections ended. */
  watched: { readonly ask: object; readonly answer: Heard };
  /** Lets go of those who watch. */
  unwatch: { readonly ask: object; readonly answer: number };
  /** Connects, and joins once it is connected; milliseconds from the join to its Keyframe, so many times. */
  join: { readonly ask: { readonly line: Line; readonly times: number }; readonly answer: readonly number[] };
  /** Joins a session that is over, and listens until it is sent away. */
  replay: { readonly ask: { readonly line: Line }; readonly answer: Heard };
}

export type JobName = keyof Jobs;
export type Ask = { [J in JobName]: { readonly job: J } & Jobs[J]['ask'] }[JobName];
export type Answer = { readonly value: Jobs[JobName]['answer'] } | { readonly failed: string };
