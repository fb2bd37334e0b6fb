// What a session's keys are called: all in one slot, so that one script reaches them. Knows no Redis.

/** Most characters of a session's id, as it is written in keys. */
const MAX_ID = 255;

export interface SessionKeys {
  /** Hash: mark, epoch, current, oldest, count, frames, seconds, run, held, left, leftAt, record, and `kind:<kind>` for the newest of each. */
  readonly meta: string;
  /** Stream of entries; ids are `<sequence>-0`, fields kind, id, ts, body. */
  readonly log: string;
  /** List of sequence, ts, sequence, ts … of the entries kept: what trimming needs to know of them. */
  readonly times: string;
  /** There for a while after the session was removed: who misses the others then knows that they were not lost. */
  readonly gone: string;
  /** Sharded channel on which each batch is announced. */
  readonly live: string;
  /** Sharded channel on which the bodies of a batch follow, each as it is, where they are too big to be announced with it. */
  readonly bodies: string;
}

export const keysOf = (prefix: string, sessionId: string): SessionKeys | undefined => {
  const tag = tagOf(sessionId);
  const key = (part: string): string => `${prefix}:{${tag}}:${part}`;
  if (tag === undefined) return undefined;
  const [meta, log, times, gone] = [key('meta'), key('log'), key('times'), key('gone')];
  return { meta, log, times, gone, live: key('live'), bodies: key('live:bodies') };
};

/** The sessions there are, by the time at which they were noted. */
export const indexKey = (prefix: string): string => `${prefix}:{index}:sessions`;

/** An id as it stands between braces: no brace is in it, and no two are alike. Undefined if it cannot be one. */
function tagOf(sessionId: string): string | undefined {
  try {
    const tag = encodeURIComponent(sessionId);
    return tag.length > 0 && tag.length <= MAX_ID ? tag : undefined;
  } catch {
    return undefined;
  }
}

/** For SCAN: the meta keys of all sessions. */
export const metaPattern = (prefix: string): string => `${prefix.replace(/[[\]*?\\^]/g, '\\$&')}:{*}:meta`;

/** The session whose meta key it is; undefined for a key that is not ours. */
export function sessionOf(prefix: string, key: string): string | undefined {
  const tag = key.slice(`${prefix}:{`.length, -'}:meta'.length);
  try {
    const sessionId = decodeURIComponent(tag);
    return keysOf(prefix, sessionId)?.meta === key ? sessionId : undefined;
  } catch {
    return undefined;
  }
}
