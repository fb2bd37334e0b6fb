// A bus whose messages cannot be read where they wait to be fetched. Knows not what they say, and no store.
import { type Keyring, SALT_BYTES, type Seal, SealError } from '../../keyring.js';
import type { Bus } from './cluster.js';

/** Keys of other replicas that are remembered: each of their lives has one. */
const SEALS_LIMIT = 256;

/**
 * All replicas need each other's keys; what cannot be opened is an error of the handler and goes no further.
 * Without a key to seal with, messages pass as they are, and sealed ones are refused.
 */
export function sealedBus(inner: Bus, keyring: Keyring): Bus {
  const own = keyring.mint('bus');
  const seals = new Map<string, Seal>();
  const head = own && Buffer.concat([Buffer.from([Buffer.byteLength(own.kid)]), Buffer.from(own.kid), own.salt]);

  const open = (from: string, message: Uint8Array): Uint8Array => {
    const sealed = message[0] !== 0;
    if (!sealed && !own) return message;
    if (!sealed) throw new SealError(`the replica ${from} sends messages that are not sealed: it has no REPLAY_ENCRYPTION_KEYS`);
    const all = Buffer.from(message.buffer, message.byteOffset, message.byteLength);
    const afterKid = 1 + all.readUInt8(0);
    const body = all.subarray(afterKid + SALT_BYTES);
    return sealOf(all.toString('utf8', 1, afterKid), all.subarray(afterKid, afterKid + SALT_BYTES)).open(
      body,
      contextOf(from, inner.replicaId),
    );
  };
  const opened = (from: string, message: Uint8Array): Uint8Array => {
    try {
      return open(from, message);
    } catch (error) {
      if (!(error instanceof SealError)) throw error;
      throw new SealError(`${error.message}; this replica seals with ${own ? `the key ${JSON.stringify(own.kid)}` : 'none'}`);
    }
  };
  const sealOf = (kid: string, salt: Buffer): Seal => {
    const name = `${kid} ${salt.toString('base64')}`;
    const seal = seals.get(name) ?? keyring.find(kid, salt, 'bus');
    seals.set(name, seal);
    const [oldest] = seals.keys();
    if (seals.size > SEALS_LIMIT && oldest !== undefined) seals.delete(oldest);
    return seal;
  };

  return {
    replicaId: inner.replicaId,
    send: (to, message, options) =>
      inner.send(to, own && head ? Buffer.concat([head, own.seal.close(message, contextOf(inner.replicaId, to))]) : message, options),
    receive: (handler) => inner.receive((from, message) => handler(from, opened(from, message))),
    onGap: (listener) => inner.onGap(listener),
    close: () => inner.close(),
  };
}

function contextOf(from: string, to: string): string {
  return `message ${from} ${to}`;
}
