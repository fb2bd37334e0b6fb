// The revocations in a file, a word a line, read again whenever it has changed. Knows no token and no connection.
import { readFile, stat } from 'node:fs/promises';
import { hex } from './certificates/certificate.js';
import type { Revocations } from './validity.js';

/** Largest file, in bytes. */
const MAX_BYTES = 16 * 1024 * 1024;

export interface RevocationFile extends Revocations {
  /** Looks whether it has changed. Resolves with how many words there are; rejects if it cannot be used: then they stay as they were. */
  reread(): Promise<number>;
}

/**
 * `jti:…`, `sub:…`, `cert:…` and `serial:…` lines, the hex of these two as people write it; what follows a `#` at the beginning of a line is a remark. A file that is not there revokes nothing; of one that
 * cannot be used, `onLook` is told (undefined: it can), and what it said before holds.
 */
export function revocationFile(path: string, onLook: (error: unknown) => void = () => {}): RevocationFile {
  let revoked: ReadonlySet<string> = new Set();
  let seen = '';
  const reread = async () => {
    const found = await stat(path).catch((error) => {
      if (error.code === 'ENOENT') return undefined;
      throw error;
    });
    const sign = found ? `${found.mtimeMs} ${found.size} ${found.ino}` : 'none';
    if (sign !== seen) revoked = found ? wordsIn(path, await readSmall(path, found.size)) : new Set();
    seen = sign;
    return revoked.size;
  };
  return {
    reread,
    among: async (words) => {
      await reread().then(() => onLook(undefined), onLook);
      return new Set(words.filter((word) => revoked.has(word)));
    },
  };
}

async function readSmall(path: string, size: number): Promise<string> {
  if (size > MAX_BYTES) throw new Error(`${path} has ${size} bytes; expected at most ${MAX_BYTES}`);
  return readFile(path, 'utf8');
}

function wordsIn(path: string, text: string): ReadonlySet<string> {
  const lines = text.split('\n').map((line) => line.trim());
  const wrong = lines.findIndex((line) => line !== '' && !line.startsWith('#') && !/^(?:jti|sub|cert|serial):./.test(line));
  if (wrong >= 0) throw new Error(`${path}: line ${wrong + 1} is none of jti:…, sub:…, cert:… and serial:…`);
  const words = lines.filter((line) => line !== '' && !line.startsWith('#'));
  return new Set(words.map((line) => line.replace(/^(cert|serial):(.*)$/, (_, kind, digits) => `${kind}:${hex(digits)}`)));
}
