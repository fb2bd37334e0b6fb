// Files of settings that are looked at now and then, and what may stand in their place. Knows no gateway and no setting.
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Reloads } from '../../src/reload.js';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(path.join(tmpdir(), 'reread-'));
});
afterEach(() => rm(dir, { recursive: true }));

const isInItsPlace: Readonly<Record<string, (file: string) => Promise<unknown>>> = {
  'a folder, as a mount leaves it whose file was missing': (file) => mkdir(file),
  'a link that leads to itself': (file) => symlink(file, file),
  nothing: async () => undefined,
};

it.each(Object.entries(isInItsPlace))(
  'what cannot be used changes nothing, is told of once, and others are read all the same: %s',
  async (_, put) => {
    const [file, other] = [path.join(dir, 'secret'), path.join(dir, 'other')];
    for (const each of [file, other]) await writeFile(each, 'first\n');
    const told: string[] = [];
    const tell = (_: object, message: string) => void told.push(message.replace(/: E[A-Z]+:.*/, ''));
    const reloads = new Reloads();
    reloads.add('SECRET', () => readFile(file, 'utf8'), [file]);
    reloads.add('OTHER', () => readFile(other, 'utf8'), [other]);
    await rm(file);
    await put(file);
    await writeFile(other, 'second one\n');
    for (let looks = 0; looks < 3; looks++) await reloads.look({ info: tell, error: tell });
    expect(told.sort()).toEqual(['OTHER was read again: second one\n', 'SECRET stays as it was']);
  },
);
