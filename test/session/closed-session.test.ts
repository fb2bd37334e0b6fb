// What late readers of a session get while its log cannot be read.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LogError, type LogReader } from '../../src/log/log.js';
import { readPayload } from '../../src/protocol/make-frames.js';
import { ClosedSession } from '../../src/session/closed-session.js';
import { EndedPushes } from '../../src/session/ended-pushes.js';
import { noSender } from '../../src/session/pushes.js';
import { type KeptSession, keptSession } from '../../src/session/record.js';
import { agent, type House, openHouse, Watcher } from '../support/house.js';

let house: House;
beforeAll(async () => {
  house = await openHouse();
});
afterAll(() => house.close());

describe('A session that has ended', () => {
  it('shows its last screen when its log can be read again', async () => {
    const { id, frames } = await house.sessions.create(agent(), { argv: ['/bin/echo', 'the end'] }, 'someone');
    await expect.poll(async () => keptSession(await house.log.record(id))?.state).toBe('closed');
    const kept = keptSession(await house.log.record(id)) as KeptSession;
    const { reader, failures } = awayFor(3, frames);
    const session = new ClosedSession({
      kept,
      reader,
      screens: house.screens,
      claim: () => house.log.claim(id),
      push: new EndedPushes(id, house.log, noSender),
    });
    const late = await Watcher.join(session, 'observer');
    const keyframe = readPayload(await late.joined.keyframe.frame) as { kind: string; snapshot: string };
    expect(keyframe.kind).toBe('Keyframe');
    expect(Buffer.from(keyframe.snapshot, 'base64').toString()).toContain('the end');
    expect(failures()).toBe(3);
    await session.release();
  });
});

/** A log that is away for the first so many reads. */
function awayFor(reads: number, reader: LogReader): { reader: LogReader; failures(): number } {
  let failed = 0;
  const read: LogReader['read'] = async (...stretch) => {
    if (failed === reads) return reader.read(...stretch);
    failed += 1;
    throw new LogError('unavailable', 'it is away');
  };
  const get = (_: object, name: keyof LogReader) => (name === 'read' ? read : reader[name]?.bind(reader));
  return { reader: new Proxy(reader, { get } as ProxyHandler<LogReader>), failures: () => failed };
}
