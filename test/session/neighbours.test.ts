import { describe, expect, it } from 'vitest';
import { Away } from '../../src/session/replicas/away.js';
import { Calls } from '../../src/session/replicas/calls.js';
import type { Bus, Leases } from '../../src/session/replicas/cluster.js';
import { Desk } from '../../src/session/replicas/desk.js';
import { type Neighbours, neighboursOver } from '../../src/session/replicas/neighbours.js';
import type { Questions } from '../../src/session/replicas/remote-words.js';
import type { Session } from '../../src/session/session.js';

const quiet = { info: () => {}, warn: () => {}, error: () => {} };
const leases = {
  replicaId: '',
  onDeath: () => () => {},
  isAlive: () => true,
  now: () => ({ from: 0, to: 0 }),
  alive: () => ['a', 'b'],
} as unknown as Leases;

/** Two replicas on a bus of their own. */
function pair(): { a: Neighbours; b: Neighbours } {
  const handlers = new Map<string, Parameters<Bus['receive']>[0]>();
  const busOf = (replicaId: string) =>
    ({
      replicaId,
      send: async (to: string, message: Uint8Array) => void setImmediate(() => handlers.get(to)?.(replicaId, message)),
      receive: (handler: Parameters<Bus['receive']>[0]) => void handlers.set(replicaId, handler),
    }) as unknown as Bus;
  const at = (id: string) => neighboursOver(new Calls({ bus: busOf(id), leases, logger: quiet }), leases, quiet);
  return { a: at('a'), b: at('b') };
}

describe('Replicas over a bus', () => {
  it('ask of a session whatever can be asked, and no question is taken for news', async () => {
    const { a, b } = pair();
    const asked: string[] = [];
    // Says its name for whatever is called on it or on its task.
    const anything: unknown = new Proxy(() => {}, {
      get: (_, name) => (name === 'then' ? undefined : name === 'task' ? anything : async () => void asked.push(String(name))),
    });
    const desk = new Desk({ here: () => anything as Session, settled: async () => {} }, () => {});
    b.serve({ desk, away: new Away(), adopt: async () => {} });
    a.serve({ desk, away: new Away(), adopt: async () => {} });
    const ask = a.asker('b', 's');
    const questions: ReadonlyArray<[keyof Questions, string]> = [
      ['leave', 'leave'],
      ['input', 'input'],
      ['resize', 'resize'],
      ['requestRole', 'requestRole'],
      ['requestKeyframe', 'requestKeyframe'],
      ['lagged', 'lagged'],
      ['moveControl', 'moveControl'],
      ['presence', 'presence'],
      ['dismiss', 'dismiss'],
      ['end', 'end'],
      ['view', 'view'],
      ['task', 'placed'],
      ['message', 'send'],
      ['cancel', 'cancel'],
    ];
    for (const [question] of questions) await ask(question, {} as never).catch(() => {});
    expect(asked).toEqual(questions.map(([, called]) => called));
  });

  it('tell a member of another replica who asks for control and who types', async () => {
    const { a, b } = pair();
    const desk = new Desk({ here: () => undefined, settled: async () => {} }, () => {});
    const away = new Away();
    b.serve({ desk, away, adopt: async () => {} });
    const told = new Promise((tell) => away.enter('bob', { deliver: () => {}, dismiss: () => {}, tell }, 'a'));
    a.tell('b', 'presenceState', { handle: 'bob', state: { asking: ['ada'] } });
    await expect(told).resolves.toEqual({ asking: ['ada'] });
  });
});
