import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import type { AuditLine } from '../../src/audit/audit.js';
import { AuditFileError, GENESIS, lineHash, verify } from '../../src/audit/chain.js';
import { openAuditFile } from '../../src/audit/file.js';
import { chainFiles } from '../../src/audit/rotation.js';

const freshFile = () => path.join(mkdtempSync(path.join(tmpdir(), 'audit-')), 'deep', 'audit.jsonl');
const open = (file: string, more: Partial<Parameters<typeof openAuditFile>[0]> = {}) =>
  openAuditFile({ file, replicaId: 'r1', now: () => 0, ...more });
const line = (detail: string): AuditLine => ({ event: 'attach', outcome: 'granted', principal: 'alice', detail });
const read = (file: string): Array<Record<string, unknown>> =>
  readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((text) => JSON.parse(text));

/** Checks the chain as anyone can: each hash is that of the line's other fields, and each line names the hash before it. */
function expectChain(lines: Array<Record<string, unknown>>): void {
  let prev = GENESIS;
  for (const [i, { hash, ...fields }] of lines.entries()) {
    expect(fields).toMatchObject({ n: i + 1, prev_hash: prev });
    expect(hash).toBe(lineHash(fields));
    prev = hash as string;
  }
}

describe('the audit file', () => {
  it('holds what the contract names, in lines of JSON', async () => {
    const file = freshFile();
    const audit = await open(file);
    audit.record({
      event: 'input_denied',
      outcome: 'denied',
      principal: 'bob',
      address: '10.0.0.1',
      instance_id: 'i',
      session_id: 's',
      client_id: 'c',
      role: 'observer',
      trace_id: 't',
    });
    audit.record({ event: 'rotate', outcome: 'done', principal: null });
    await audit.close();
    const [first, second] = read(file);
    expect(Object.keys(first ?? {})).toEqual([
      'ts',
      'n',
      'event',
      'outcome',
      'principal',
      'address',
      'instance_id',
      'session_id',
      'client_id',
      'role',
      'replica_id',
      'trace_id',
      'prev_hash',
      'hash',
    ]);
    expect(first).toMatchObject({
      ts: '1970-01-01T00:00:00.000Z',
      n: 1,
      principal: 'bob',
      address: '10.0.0.1',
      client_id: 'c',
      replica_id: 'r1',
      prev_hash: GENESIS,
    });
    expect(second).toMatchObject({ n: 2, principal: null, address: null, session_id: null, prev_hash: first?.hash });
  });

  it('can be read by its owner alone', async () => {
    const file = freshFile();
    await (await open(file)).close();
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('is one chain over any lines and any restarts', async () => {
    const runs = fc.array(fc.array(fc.string({ unit: 'grapheme' }), { maxLength: 20 }), { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(runs, async (details) => {
        const file = freshFile();
        for (const run of details) {
          const audit = await open(file);
          for (const detail of run) audit.record(line(detail));
          await audit.close();
        }
        if (details.flat().length === 0) return;
        const lines = read(file);
        expectChain(lines);
        expect(lines.map(({ detail }) => detail)).toEqual(details.flat());
      }),
      { numRuns: 20 },
    );
  });

  it('goes on behind a line that a crash left unfinished', async () => {
    const file = freshFile();
    const audit = await open(file);
    audit.record(line('whole'));
    await audit.close();
    appendFileSync(file, '{"ts":"2026-01-01T00:00:00.000Z","n":2,"event":"att');
    const again = await open(file);
    again.record(line('after'));
    await again.close();
    const lines = read(file);
    expectChain(lines);
    expect(lines.map(({ detail }) => detail)).toEqual(['whole', 'after']);
  });

  it('is put aside when it is full, and continued by another one, also over restarts', async () => {
    const details = fc.array(fc.array(fc.string({ unit: 'grapheme', maxLength: 60 }), { maxLength: 12 }), { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(details, fc.integer({ min: 1, max: 2_000 }), async (runs, rotateBytes) => {
        const file = freshFile();
        for (const run of runs) {
          const audit = await open(file, { rotateBytes });
          for (const detail of run) audit.record(line(detail));
          await audit.close();
        }
        const files = await chainFiles(file);
        const lines = files.flatMap((one) => (statSync(one).size === 0 ? [] : read(one)));
        expectChain(lines);
        expect(lines.filter(({ event }) => event !== 'rotate').map(({ detail }) => detail)).toEqual(runs.flat());
        expect(await verify(files)).toMatchObject({ whole: true, lines: lines.length });
      }),
      { numRuns: 30 },
    );
  });

  it('goes on in the file after the one that was put aside just before a crash', async () => {
    const file = freshFile();
    const audit = await open(file);
    audit.record(line('before'));
    await audit.close();
    renameSync(file, file.replace('.jsonl', '.0000000000000001.jsonl'));
    const again = await open(file);
    again.record(line('after'));
    await again.close();
    const files = await chainFiles(file);
    expect(files).toHaveLength(2);
    const lines = files.flatMap(read);
    expectChain(lines);
    expect(lines.map(({ event, detail }) => detail ?? event)).toEqual(['before', 'rotate', 'after']);
  });

  it('goes on in the full file where no other can be put beside it, and says so once', async () => {
    const file = freshFile();
    const told: Array<string | undefined> = [];
    const audit = await open(file, { rotateBytes: 1, onTrouble: (sentence) => told.push(sentence) });
    for (const n of [1, 2]) mkdirSync(path.join(path.dirname(file), `audit.000000000000000${n}.jsonl`, 'full'), { recursive: true });
    for (const detail of ['a', 'b', 'c']) {
      audit.record(line(detail));
      await vi.waitFor(() => expect(read(file).at(-1)).toMatchObject({ detail }), 10_000);
    }
    await audit.close();
    expectChain(read(file));
    expect(told).toEqual([expect.stringMatching(/is full and cannot be put aside: /)]);
  });

  it.each([
    ['is none of ours', 'root:x:0:0\n'],
    ['is none of ours and has no end', 'root:x:0:0'],
    ['was tampered with at its end', `${JSON.stringify({ ts: 'x', n: 1, detail: 'changed', prev_hash: GENESIS, hash: GENESIS })}\n`],
  ])('is not continued, and not touched, if it %s', async (_what, content) => {
    const file = path.join(mkdtempSync(path.join(tmpdir(), 'audit-')), 'audit.jsonl');
    writeFileSync(file, content);
    await expect(open(file)).rejects.toThrow(AuditFileError);
    expect(readFileSync(file, 'utf8')).toBe(content);
  });

  it('waits for a full disk without making anyone wait, and leaves no half line behind', async () => {
    const file = freshFile();
    let full = true;
    const told: Array<string | undefined> = [];
    const write = async (handle: FileHandle, bytes: Uint8Array) => {
      if (full) {
        await handle.appendFile(bytes.subarray(0, 10));
        throw new Error('no space left on device');
      }
      await handle.appendFile(bytes);
    };
    let recovered = () => {};
    const working = new Promise<void>((resolve) => {
      recovered = resolve;
    });
    const onTrouble = (sentence: string | undefined) => {
      told.push(sentence);
      full = false;
      if (sentence === undefined) recovered();
    };
    const audit = await open(file, { write, onTrouble });
    audit.record(line('one'));
    audit.record(line('two'));
    await working;
    await audit.close();
    expect(told).toEqual([`the audit file ${file} cannot be written: no space left on device`, undefined]);
    const lines = read(file);
    expectChain(lines);
    expect(lines.map(({ detail }) => detail)).toEqual(['one', 'two']);
  });

  it('counts what it had to drop, and records the count where the lines are missing', async () => {
    const file = freshFile();
    let release = () => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const audit = await open(file, { write: async (handle, bytes) => gate.then(() => handle.appendFile(bytes)) });
    for (let i = 0; i < 10_123; i++) audit.record(line(String(i)));
    release();
    await audit.close();
    const lines = read(file);
    expectChain(lines);
    expect(lines).toHaveLength(10_001);
    expect(lines.at(-1)).toMatchObject({ event: 'dropped', outcome: 'failed', principal: null, detail: '123 lines were lost' });
  });

  it('gives up a full disk when it is closed', async () => {
    const audit = await open(freshFile(), { write: async () => Promise.reject(new Error('no space left on device')) });
    audit.record(line('lost'));
    await audit.close();
  });
});
