// What a program must not inherit: the terminals of others, and whatever else is open in the gateway.
import { execFileSync } from 'node:child_process';
import { closeSync, openSync, readdirSync, readlinkSync } from 'node:fs';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { needs } from '../support/needs.js';
import { linux, run, sh } from './real-pty.js';

needs('cc')('descriptors', () => {
  beforeAll(async () => {
    const { buildNative } = await import(new URL('../../scripts/native.mjs', import.meta.url).href);
    buildNative();
  });

  it.runIf(linux)('are 0, 1 and 2 alone, all of them the terminal, however many terminals are open', async () => {
    const file = openSync('/dev/null', 'r');
    onTestFinished(() => closeSync(file));
    for (let i = 0; i < 5; i++) await run(['sleep', '60']);
    const program = await sh('printf ready; read -r _');
    await program.printed('ready');
    const folder = `/proc/${program.terminal.pid}/fd`;
    expect(readdirSync(folder).sort()).toEqual(['0', '1', '2']);
    expect(new Set(['0', '1', '2'].map((fd) => readlinkSync(`${folder}/${fd}`))).size).toBe(1);
  });

  it('are still handed to programs that are to have them', async () => {
    await (await sh('true')).exit;
    expect(execFileSync('cat', { input: 'through a pipe' }).toString()).toBe('through a pipe');
  });
});
