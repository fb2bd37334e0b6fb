import { describe, expect, it } from 'vitest';
import { Away } from '../../src/session/replicas/away.js';
import { Calls } from '../../src/session/replicas/calls.js';
import { type Bus, BusError, type Leases } from '../../src/session/replicas/cluster.js';
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

interface Pair {
  readonly a: Neighbours;
  readonly b: Neighbours;
  /** Whether the bus takes anything. */
  isWhole: boolean;
  /** Tells this replica that the other's messages were lost. */
  lose(at: string): void;
}

/** Two replicas on a bus of their own. */
function pair(): Pair {
  const losses = new Map<string, (from: string, lost: number) => void>();
  const handlers = new Map<string, Parameters<Bus['receive']>[0]>();
  const busOf = (replicaId: string) =>
    ({
      replicaId,
      send: async (to: string, message: Uint8Array) => {
        if (!two.isWhole) throw new BusError('unavailable', 'not now');
        setImmediate(() => handlers.get(to)?.(replicaId, message));
      },
      receive: (handler: Parameters<Bus['receive']>[0]) => void handlers.set(replicaId, handler),
      onGap: (listener: (from: string, lost: number) => void) => void losses.set(replicaId, listener),
    }) as unknown as Bus;
  const at = (id: string) => neighboursOver(new Calls({ bus: busOf(id), leases, logger: quiet }), leases, quiet);
  const two: Pair = { a: at('a'), b: at('b'), isWhole: true, lose: (id) => losses.get(id)?.(id === 'a' ? 'b' : 'a', 1) };
  return two;
}

function sendAwayInVain(two: Pair): void {
  two.isWhole = false;
  two.a.tell('b', 'sendAway', { handle: 'bob', reason: 'principal_revoked', code: 4403 });
  setImmediate(() => {
    two.isWhole = true;
  });
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

  it.each([
    ['could not be handed over', (two: Pair) => sendAwayInVain(two)],
    ['was lost on the way', (two: Pair) => two.lose('b')],
  ])('send back the members of a replica whose news %s, and no others', async (_, failure) => {
    const two = pair();
    const away = new Away();
    two.b.serve({ desk: new Desk({ here: () => undefined, settled: async () => {} }, () => {}), away, adopt: async () => {} });
    const left: string[] = [];
    const member = (name: string) => ({ deliver: () => {}, dismiss: (reason: string) => void left.push(`${name}: ${reason}`) });
    away.enter('bob', member('bob'), 'a');
    away.enter('cy', member('cy'), 'c');
    failure(two);
    await expect.poll(() => left).toEqual(['bob: other']);
    two.a.close();
  });
});
