// What replicas tell each other by way of a store that somebody else can write to.
import { beforeEach, expect, it } from 'vitest';
import { Keyring } from '../../src/keyring.js';
import type { Bus } from '../../src/session/replicas/cluster.js';
import { sealedBus } from '../../src/session/replicas/sealed-bus.js';

const keyring = (...bytes: number[]) => new Keyring(bytes.map((byte) => ({ kid: `key ${byte}`, key: Buffer.alloc(32, byte) })));

/** All that lies in the store, as who can write to it sees it, and how it is handed over. */
let letters: Array<{ readonly from: string; readonly to: string; readonly message: Uint8Array }>;
let handlers: Map<string, (from: string, message: Uint8Array) => void>;
beforeEach(() => {
  letters = [];
  handlers = new Map();
});

/** A replica, and what it hears. */
function replica(replicaId: string, keys: Keyring) {
  const store: Bus = {
    replicaId,
    send: async (to, message) => void letters.push({ from: replicaId, to, message }),
    receive: (handler) => void handlers.set(replicaId, handler),
    onGap: () => () => {},
    close: async () => {},
  };
  const bus = sealedBus(store, keys);
  const heard: string[] = [];
  bus.receive((from, message) => void heard.push(`${from}: ${Buffer.from(message)}`));
  return { bus, heard };
}

const deliver = (from: string, to: string, message: Uint8Array) => handlers.get(to)?.(from, message);
const written = async (bus: Bus, to: string): Promise<Uint8Array> => {
  await bus.send(to, Buffer.from('a plain word'));
  return letters.at(-1)?.message as Uint8Array;
};

it('is read by whom it is for, whichever of the keys it was sealed with, and by nobody on its way', async () => {
  const [a, b] = [replica('a', keyring(1)), replica('b', keyring(2, 1))];
  for (const [from, to] of [
    ['a', 'b'],
    ['b', 'b'],
  ] as const) {
    const message = await written(from === 'a' ? a.bus : b.bus, to);
    expect(Buffer.from(message).includes('plain')).toBe(false);
    deliver(from, to, message);
  }
  expect(b.heard).toEqual(['a: a plain word', 'b: a plain word']);
});

it('is refused when anything of it is another: its words, its key, who sent it, whom it was for', async () => {
  const [a, b, c] = [replica('a', keyring(1)), replica('b', keyring(1)), replica('c', keyring(1))];
  const message = await written(a.bus, 'b');
  for (let i = 0; i < message.length; i++) {
    const changed = Uint8Array.from(message, (byte, at) => (at === i ? byte ^ 1 : byte));
    expect(() => deliver('a', 'b', changed)).toThrow();
  }
  for (let length = 0; length < message.length; length++) expect(() => deliver('a', 'b', message.subarray(0, length))).toThrow();
  expect(() => deliver('c', 'b', message)).toThrow('it does not open');
  expect(() => deliver('a', 'c', message)).toThrow('it does not open');
  expect([b.heard, c.heard]).toEqual([[], []]);
});

it('is refused in the clear where there are keys, and sealed where there are none', async () => {
  const [open, sealed] = [replica('open', keyring()), replica('sealed', keyring(1))];
  expect(() => deliver('open', 'sealed', Buffer.from('\0a plain word'))).toThrow('sends messages that are not sealed');
  const message = await written(sealed.bus, 'open');
  expect(() => deliver('sealed', 'open', message)).toThrow('which REPLAY_ENCRYPTION_KEYS does not have');
  expect([open.heard, sealed.heard]).toEqual([[], []]);
});
