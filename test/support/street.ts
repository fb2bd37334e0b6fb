// Several replicas in one process, on one log, that talk in order and a little late. Knows no Redis.
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { PushSender } from '../../src/a2a/push.js';
import type { Agent } from '../../src/agents/agents.js';
import { asFault } from '../../src/errors.js';
import { Keyring, type NamedKey } from '../../src/keyring.js';
import { openEmbeddedLog } from '../../src/log/embedded/embedded-log.js';
import { sealedLog } from '../../src/log/sealed/sealed-log.js';
import type { Sessions } from '../../src/session/registry.js';
import type { Household, Neighbours } from '../../src/session/replicas/neighbours.js';
import { createSessions } from '../../src/session/sessions.js';
import { spawnTerminal } from '../../src/terminal/pty.js';
import { createScreenHost } from '../../src/terminal/screen-host.js';

const quiet = { info: () => {}, warn: () => {}, error: () => {} };

interface Resident {
  sessions: Sessions;
  serving: Household | undefined;
  isDead: boolean;
  isUnknown: boolean;
  isDeaf: boolean;
  readonly mourners: Array<(replicaId: string) => void>;
}

export interface Street {
  sessions(replicaId: string): Sessions;
  /** It answers no more, and the others are told so. */
  kill(replicaId: string): void;
  /** The others do not know of its birth, until they look again. */
  bear(replicaId: string): void;
  /** Whether what the others ask of it is lost on the way. */
  deafen(replicaId: string, isDeaf: boolean): void;
  close(): Promise<void>;
}

/** With `keys`, what is stored is sealed. */
export async function openStreet(
  replicaIds: readonly string[],
  agents: readonly Agent[] = [],
  sender?: () => PushSender,
  keys: readonly NamedKey[] = [],
): Promise<Street> {
  const dir = await mkdtemp(path.join(os.tmpdir(), 'street-'));
  const log = sealedLog(await openEmbeddedLog({ dir }), new Keyring(keys));
  const screens = createScreenHost({});
  const residents = new Map<string, Resident>();
  /** Messages are carried one after the other. */
  let road: Promise<unknown> = Promise.resolve();
  const carry = <T>(work: () => T): Promise<T> => {
    const carried = road.then(() => new Promise((resolve) => setImmediate(resolve))).then(work);
    road = carried.catch(() => {});
    return carried;
  };
  for (const replicaId of replicaIds) {
    const resident: Resident = {
      sessions: undefined as never,
      serving: undefined,
      isDead: false,
      isUnknown: false,
      isDeaf: false,
      mourners: [],
    };
    residents.set(replicaId, resident);
    const neighbours: Neighbours = {
      // Nobody gives orders here.
      order: () => Promise.reject(new Error('no orders')),
      onOrder: () => {},
      isAlive: (id) => residents.get(id)?.isDead === false && residents.get(id)?.isUnknown === false,
      isAliveNow: async (id) => {
        const one = residents.get(id);
        if (one) one.isUnknown = false;
        return one?.isDead === false;
      },
      asker: (owner, sessionId) => async (question, ask, bytes) => {
        const to = residents.get(owner);
        if (to?.isDeaf) throw asFault(new Error('lost on the way'));
        const answer = await carry(() => ({
          coming: to?.serving?.desk.answer(replicaId, sessionId, question, structuredClone(ask), bytes ?? new Uint8Array()),
        }));
        answer.coming?.catch(() => {});
        if (!answer.coming || to?.isDead) throw asFault(new Error('gone'));
        return carry(() => answer.coming as Promise<never>).then((x) => x);
      },
      tell: (to, what, head, bytes) =>
        void carry(() => residents.get(to)?.serving?.away.hear(replicaId, what, { head, ...(bytes ? { bytes } : {}) })),
      serve: (household) => {
        resident.serving = household;
      },
      others: () => [...residents].flatMap(([id, { isDead }]) => (isDead || id === replicaId ? [] : [id])),
      handOver: async (to, sessionId) => residents.get(to)?.serving?.adopt(sessionId),
      onDeath: (listener) => resident.mourners.push(listener),
      onDoubt: () => {},
      onUsurped: () => {},
      trouble: () => undefined,
      close: () => {},
    };
    resident.sessions = await createSessions({
      log,
      screens,
      spawn: spawnTerminal,
      replicaId,
      maxSessions: 100,
      logger: quiet,
      agents: { get: (id) => agents.find((one) => one.id === id) },
      neighbours,
      ...(sender && { sender: sender() }),
    });
  }
  return {
    sessions: (id) => (residents.get(id) as Resident).sessions,
    bear(id) {
      (residents.get(id) as Resident).isUnknown = true;
    },
    deafen(id, isDeaf) {
      (residents.get(id) as Resident).isDeaf = isDeaf;
    },
    kill(id) {
      const dead = residents.get(id) as Resident;
      dead.isDead = true;
      for (const other of residents.values()) if (other !== dead) for (const mourn of other.mourners) mourn(id);
    },
    async close() {
      for (const { sessions } of residents.values()) await sessions.close();
      await screens.close();
      await log.close();
      await rm(dir, { recursive: true, force: true });
    },
  };
}
