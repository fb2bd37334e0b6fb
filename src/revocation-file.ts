// The revocations in a file, a word a line, read again whenever it has changed. Knows no token and no connection.
import { readFile, stat } from 'node:fs/promises';
import { hex } from './certificates/certificate.js';
import type { Revocations } from './validity.js';

/** Largest file, in bytes. */
const MAX_BYTES = 16 * 1024 * 1024;

/** `jti:…`, `sub:…`, `cert:…` and `serial:…` lines, the hex of these two as people write it; what follows a `#` at the beginning of a line is a remark. A file that is not there revokes nothing. */
export function revocationFile(path: string): Revocations {
  let revoked: ReadonlySet<string> = new Set();
  let seen = '';
  return {
    async among(words) {
      const found = await stat(path).catch((error) => {
        if (error.code === 'ENOENT') return undefined;
        throw error;
      });
      const sign = found ? `${found.mtimeMs} ${found.size} ${found.ino}` : 'none';
      if (sign !== seen) revoked = found ? wordsIn(path, await readSmall(path, found.size)) : new Set();
      seen = sign;
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
  return new Set(lines.map((line) => line.replace(/^(cert|serial):(.*)$/, (_, kind, digits) => `${kind}:${hex(digits)}`)));
}
