// What members on this replica get of what the replica that ran their session had promised, once it is gone.
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Frame } from '../../src/protocol/frames.js';
import { entry } from '../../src/protocol/make-frames.js';
import { Away } from '../../src/session/replicas/away.js';
import { headOf } from '../../src/session/replicas/remote-words.js';
import type { Delivery } from '../../src/session/session.js';

const role = entry('RoleAssigned', { role: 'observer', client_id: 'c' });

function arrive(): { away: Away; deliveries: Delivery[] } {
  const away = new Away();
  const deliveries: Delivery[] = [];
  away.enter('h', { deliver: (delivery) => void deliveries.push(delivery), dismiss: () => {} }, 'owner');
  return { away, deliveries };
}

describe('A replica that is gone', () => {
  it('owes the Keyframe of a join to nobody any more: who joins is told to come again', async () => {
    const { away } = arrive();
    const keyframe = away.expect('h', 7);
    away.forsake('somebody else');
    away.forsake('owner');
    await expect(keyframe).rejects.toMatchObject({ code: 'INTERNAL', retryable: true });
  });

  it('does not keep who joins waiting for what was lost on the way', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const keyframe = arrive().away.expect('h', 7);
    const told = expect(keyframe).rejects.toMatchObject({ code: 'INTERNAL', retryable: true });
    await vi.runAllTimersAsync();
    await told;
  });

  it('leaves its members with what it had told, and a word for what it had promised', async () => {
    const { away, deliveries } = arrive();
    away.hear('owner', 'deliver', {
      head: { sessionId: 's', handle: 'h', sequence: 8, frame: headOf({ ...role, sequence: 8 }) },
      bytes: role.body,
    });
    away.hear('owner', 'deliver', { head: { sessionId: 's', handle: 'h', sequence: 9 } });
    away.forsake('owner');
    const frames: Frame[] = await Promise.all(deliveries.map(({ frame }) => frame));
    expect(frames.map(({ sequence, kind, body }) => [sequence, kind, JSON.parse(Buffer.from(body).toString()).code])).toEqual([
      [8, 'RoleAssigned', undefined],
      [9, 'Error', 'KEYFRAME_UNAVAILABLE'],
    ]);
  });
});
