// Keys that keep what is stored from being read elsewhere: AES-256-GCM under keys derived from the operator's. Knows no log and no environment.
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

/** Bytes of an operator's key, and of every key derived from it. */
export const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** What sealing adds to a text, in bytes. */
export const SEAL_BYTES = NONCE_BYTES + TAG_BYTES;
/** What tells one derived key from another, in bytes. */
export const SALT_BYTES = 16;

/** An operator's key with its name. */
export interface NamedKey {
  readonly kid: string;
  /** 32 bytes. */
  readonly key: Uint8Array;
}

/** Why something sealed cannot be read. The message is for the operator, and shows no key. */
export class SealError extends Error {
  override readonly name = 'SealError';
}

/** The first key seals what is new; all open. */
export class Keyring {
  readonly #keys: readonly NamedKey[];

  constructor(keys: readonly NamedKey[]) {
    this.#keys = keys;
  }

  get canSeal(): boolean {
    return this.#keys.length > 0;
  }

  /** A fresh key for one purpose, and what is to be kept so that it is found again; undefined if there is no key to seal with. */
  mint(purpose: string): { readonly seal: Seal; readonly kid: string; readonly salt: Uint8Array } | undefined {
    const [first] = this.#keys;
    if (!first) return undefined;
    const salt = randomBytes(SALT_BYTES);
    return { kid: first.kid, salt, seal: derive(first, salt, purpose) };
  }

  /** The key that `mint` made. Throws SealError if there is no key of that name. */
  find(kid: string, salt: Uint8Array, purpose: string): Seal {
    const named = this.#keys.find((one) => one.kid === kid);
    if (named) return derive(named, salt, purpose);
    throw new SealError(`it is sealed with the key ${JSON.stringify(kid)}, which REPLAY_ENCRYPTION_KEYS does not have`);
  }
}

function derive({ kid, key }: NamedKey, salt: Uint8Array, purpose: string): Seal {
  return new Seal(kid, Buffer.from(hkdfSync('sha256', key, salt, `pty-gateway ${purpose}`, KEY_BYTES)));
}

/** One key at work: nonce, tag, and the text of the same length, for which the context is needed again. */
export class Seal {
  readonly #kid: string;
  readonly #key: Uint8Array;

  constructor(kid: string, key: Uint8Array) {
    this.#kid = kid;
    this.#key = key;
  }

  close(text: Uint8Array, context: string): Buffer {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', this.#key, nonce).setAAD(Buffer.from(context));
    const closed = [cipher.update(text), cipher.final()];
    return Buffer.concat([nonce, cipher.getAuthTag(), ...closed]);
  }

  /** Throws SealError if it was closed with another key or in another context, or was changed. */
  open(closed: Uint8Array, context: string): Buffer {
    try {
      const tag = closed.subarray(NONCE_BYTES, SEAL_BYTES);
      const decipher = createDecipheriv('aes-256-gcm', this.#key, closed.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
      decipher.setAAD(Buffer.from(context)).setAuthTag(tag);
      const text = decipher.update(closed.subarray(SEAL_BYTES));
      // It adds nothing in this mode, and throws unless the tag is right.
      decipher.final();
      return text;
    } catch {
      throw new SealError(`it does not open with the key ${JSON.stringify(this.#kid)}: that is another key, or what is stored was changed`);
    }
  }
}
