// Programs that print whatever a parser of terminals may stumble over, each in a session of its own. Knows no socket.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { noise, program } from '../../test/support/programs.js';
import { type Attack, type Findings, inBatches } from './attack.js';
import type { Place } from './place.js';

/** Pieces of output that one program prints. */
const PIECES = 500;
/** Milliseconds until a session of which all is printed must have ended. */
const ENDS_MS = 60_000;

const huge = fc.constantFrom(2_147_483_647, 99_999, 65_535, -1);
const hostile = fc.oneof(
  fc.tuple(huge, fc.constantFrom(...'STLMbZI@PXABCDEFGHJKrdg')).map(([n, last]) => `\x1b[${n}${last}`),
  fc.constantFrom(
    '\x1b[24;80H\x1b[1J',
    '\x1b[8;65535;65535t',
    '\x1b]52;c;?\x07',
    '\x1b[6n'.repeat(50),
    'e\u0301'.repeat(500),
    '\x1b]8;;',
    '\x1bP',
    '\x1b_',
  ),
  fc.integer({ min: 1, max: 20_000 }).map((length) => `\x1b]0;${'t'.repeat(length)}\x07`),
  fc.array(fc.integer({ min: 0, max: 9_999 }), { minLength: 100, maxLength: 500 }).map((numbers) => `\x1b[${numbers.join(';')}m`),
);
const bytesOf = (value: string | Uint8Array) => (typeof value === 'string' ? Buffer.from(value) : Buffer.from(value));
const printed = fc.oneof(program, noise, hostile).map((value) => bytesOf(value as string | Uint8Array));

async function print(place: Place, pieces: readonly Buffer[], findings: Findings): Promise<void> {
  const file = join(place.folder, 'printed');
  writeFileSync(file, Buffer.concat(pieces));
  const session = await place.session(['/bin/cat', file]);
  const deadline = performance.now() + ENDS_MS;
  for (;;) {
    const { text } = await place.ask('GET', session);
    if (JSON.parse(text).state === 'closed') break;
    if (performance.now() > deadline) return findings.wrong('the session did not end', Buffer.concat(pieces).toString('hex'));
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  for (const what of ['screen', 'screen?format=ansi', 'transcript', 'transcript?format=text']) {
    const { status } = await place.ask('GET', `${session}/${what}`);
    if (status !== 200) findings.wrong(`${what} was answered with ${status}`, Buffer.concat(pieces).toString('hex'));
  }
  findings.add(pieces.length);
}

export const terminalOutput: Attack = {
  name: 'output of programs',
  share: 1,
  async run(place, seed, inputs, findings) {
    await inBatches(printed, { seed, inputs, batch: PIECES }, (pieces) => print(place, pieces, findings));
  },
};
