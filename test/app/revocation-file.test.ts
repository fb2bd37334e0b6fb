// A file of revocations that is read while somebody writes it.
import { appendFileSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { type RevocationFile, revocationFile } from '../../src/access/revocation-file.js';

const dir = mkdtempSync(join(tmpdir(), 'revoked-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const names = ['sub:ann', 'sub:anna', 'sub:annabel', 'sub:bert'];
let path: string;
let files = 0;
let changes = 0;
let now: number;
let file: RevocationFile;
beforeEach(() => {
  path = join(dir, `${files++}`);
  now = 0;
  file = revocationFile(path, undefined, () => now);
});

const revoked = async () => [...(await file.among(names))];
/** At a time of its own: clocks of file systems are coarse. */
const write = (text: string) => {
  writeFileSync(path, text);
  utimesSync(path, changes, changes);
  changes++;
};
/** A second goes by between two looks. */
const later = () => {
  now += 1000;
};

describe('a file of revocations', () => {
  it('that ends with a line is believed at once, and one that does not when it stands still', async () => {
    writeFileSync(path, 'sub:ann\n');
    await file.reread();
    appendFileSync(path, 'sub:anna\n');
    expect(await revoked()).toEqual(['sub:ann', 'sub:anna']);
    appendFileSync(path, 'sub:bert');
    expect(await revoked()).toEqual(['sub:ann', 'sub:anna']);
    later();
    expect(await revoked()).toEqual(['sub:ann', 'sub:anna', 'sub:bert']);
  });

  it('lets nobody in while it is emptied to be written anew, or away for a moment', async () => {
    writeFileSync(path, 'sub:ann\n');
    await file.reread();
    truncateSync(path);
    expect(await revoked()).toEqual(['sub:ann']);
    rmSync(path);
    expect(await revoked()).toEqual(['sub:ann']);
    writeFileSync(path, 'sub:ann\nsub:bert\n');
    expect(await revoked()).toEqual(['sub:ann', 'sub:bert']);
    rmSync(path);
    expect(await revoked()).toEqual(['sub:ann', 'sub:bert']);
    later();
    expect(await revoked()).toEqual([]);
  });

  it('is followed when the folder behind it is exchanged, as Kubernetes does', async () => {
    const mount = join(dir, 'mount');
    const show = (version: string, text: string) => {
      mkdirSync(join(mount, version), { recursive: true });
      writeFileSync(join(mount, version, 'revoked'), text);
      symlinkSync(version, join(mount, '..data_tmp'));
      renameSync(join(mount, '..data_tmp'), join(mount, '..data'));
    };
    show('..1', 'sub:ann\n');
    symlinkSync('..data/revoked', join(mount, 'revoked'));
    file = revocationFile(join(mount, 'revoked'), undefined, () => now);
    await file.reread();
    expect(await revoked()).toEqual(['sub:ann']);
    show('..2', 'sub:bert\n');
    rmSync(join(mount, '..1'), { recursive: true });
    expect(await revoked()).toEqual(['sub:bert']);
  });

  it('read in the middle of being written revokes nobody whom it never names', async () => {
    const cut = fc.tuple(fc.subarray(names, { minLength: 1 }), fc.nat({ max: 40 }));
    await fc.assert(
      fc.asyncProperty(fc.array(cut, { maxLength: 5 }), async (versions) => {
        write('sub:bert\n');
        file = revocationFile(path, undefined, () => now);
        await file.reread();
        for (const [lines, at] of versions) {
          const text = lines.map((line) => `${line}\n`).join('');
          write(text.slice(0, at));
          const known = new Set([...lines, 'sub:bert', ...versions.flatMap(([all]) => all)]);
          for (const word of await revoked()) expect(known).toContain(word);
          write(text);
          expect(await revoked()).toEqual(lines);
        }
      }),
      { numRuns: 50 },
    );
  });
});
