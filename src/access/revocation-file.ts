// The revocations in a file, a word a line, read again whenever it has changed. Knows no token and no connection.
import { readFile, stat } from 'node:fs/promises';
import { signOf } from '../file-sign.js';
import { hex } from './certificates/certificate.js';
import type { Revocations } from './validity.js';

/** Largest file, in bytes. */
const MAX_BYTES = 16 * 1024 * 1024;
/** Milliseconds for which a file that ends in the middle of a line, or is gone, stands still before it is believed: somebody may just be writing it. */
const STANDS_STILL_MS = 500;

export interface RevocationFile extends Revocations {
  /** Reads it as it is now. Resolves with how many words there are; rejects if it cannot be used: then they stay as they were. */
  reread(): Promise<number>;
}

/**
 * `jti:…`, `sub:…`, `cert:…` and `serial:…` lines, the hex of these two as people write it; what follows a `#` at the beginning of a line is a remark. A file that is not there revokes nothing; of one that
 * cannot be used, `onLook` is told (undefined: it can), and what it said before holds.
 */
export function revocationFile(
  path: string,
  onLook: (error: unknown) => void = () => {},
  now: () => number = () => performance.now(),
): RevocationFile {
  let revoked: ReadonlySet<string> = new Set();
  /** The sign of what was read, and that of what was not believed, with the time at which it was first seen. */
  let seen = '';
  let unsure = { sign: '', since: 0 };
  const standsStill = (sign: string) => {
    if (unsure.sign !== sign) unsure = { sign, since: now() };
    return now() - unsure.since >= STANDS_STILL_MS;
  };
  const look = async (isSure: (text: string, sign: string) => boolean) => {
    // Before it is read: what is written meanwhile is a change yet to come.
    const sign = await signOf([path]);
    if (sign === seen) return;
    const text = await readIfThere(path);
    if (!isSure(text ?? '', sign)) return;
    revoked = wordsIn(path, text ?? '');
    seen = sign;
  };
  return {
    reread: async () => {
      await look(() => true);
      return revoked.size;
    },
    among: async (words) => {
      await look((text, sign) => text.endsWith('\n') || standsStill(sign)).then(() => onLook(undefined), onLook);
      return new Set(words.filter((word) => revoked.has(word)));
    },
  };
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    const { size } = await stat(path);
    if (size > MAX_BYTES) throw new Error(`${path} has ${size} bytes; expected at most ${MAX_BYTES}`);
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

function wordsIn(path: string, text: string): ReadonlySet<string> {
  const lines = text.split('\n').map((line) => line.trim());
  const wrong = lines.findIndex((line) => line !== '' && !line.startsWith('#') && !/^(?:jti|sub|cert|serial):./.test(line));
  if (wrong >= 0) throw new Error(`${path}: line ${wrong + 1} is none of jti:…, sub:…, cert:… and serial:…`);
  const words = lines.filter((line) => line !== '' && !line.startsWith('#'));
  return new Set(words.map((line) => line.replace(/^(cert|serial):(.*)$/, (_, kind, digits) => `${kind}:${hex(digits)}`)));
}
