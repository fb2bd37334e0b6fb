// `pty-gateway audit verify`, as an auditor runs it on files that somebody has changed.
import { execFile } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { lineHash } from '../../src/audit/chain.js';
import { signer } from '../../src/audit/checkpoint.js';
import { openAuditFile } from '../../src/audit/file.js';
import { command } from './person.js';

type Lines = string[];
type Line = Record<string, unknown>;

let folder: string;
let file: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'audit-'));
  file = path.join(folder, 'audit.jsonl');
});
afterEach(() => rm(folder, { recursive: true }));

async function write(count: number, rotateBytes = 1_000_000): Promise<void> {
  const audit = await openAuditFile({ file, replicaId: 'r1', now: () => 0, rotateBytes });
  for (let n = 1; n <= count; n++) audit.record({ event: 'attach', outcome: 'granted', principal: `person ${n}` });
  await audit.close();
}

/** One life after the other, each with a file that is full from its first lines on. */
async function writeInPieces(lives: number): Promise<void> {
  for (let life = 0; life < lives; life++) await write(10, 1000);
}

async function change(how: (lines: Lines) => Lines): Promise<void> {
  const lines = (await readFile(file, 'utf8')).trimEnd().split('\n');
  await writeFile(file, `${how(lines).join('\n')}\n`);
}

async function audit(...args: string[]) {
  const options = { env: { PATH: process.env.PATH, AUDIT_FILE: file } };
  const answer = await promisify(execFile)(process.execPath, [command, 'audit', 'verify', ...args], options).catch((error) => error);
  return { stdout: String(answer.stdout), stderr: String(answer.stderr), code: Number(answer.code ?? 0) };
}

const edit =
  (at: number, how: (line: Line) => Line, rehash = false) =>
  (lines: Lines) =>
    lines.map((text, i) => {
      if (i !== at - 1) return text;
      const { hash, ...fields } = how(JSON.parse(text));
      return JSON.stringify({ ...fields, hash: rehash ? lineHash(fields) : hash });
    });

/** All from that line on with another principal, and a chain of hashes that fits. */
const rewrittenFrom = (at: number) => (lines: Lines) => {
  let prev_hash = '';
  return lines.map((text, i) => {
    const { hash, ...fields } = JSON.parse(text);
    const written = i < at - 1 ? fields : { ...fields, principal: 'nobody', prev_hash };
    prev_hash = i < at - 1 ? hash : lineHash(written);
    return JSON.stringify({ ...written, hash: prev_hash });
  });
};

describe('audit verify', () => {
  it('says of a file that is whole how many lines it has, and ends with 0', async () => {
    await write(5);
    const { stdout, stderr, code } = await audit();
    expect([stderr, code]).toEqual(['', 0]);
    expect(stdout).toMatch(/^5 lines, all as they were written, up to line 5 \([0-9a-f]{64}\)\.\n$/);
  });

  it.each<[string, (lines: Lines) => Lines, RegExp]>([
    ['edited', edit(3, (line) => ({ ...line, principal: 'nobody' })), /line 3 was edited: its hash does not fit$/],
    [
      'edited, with its hash made anew',
      edit(3, (line) => ({ ...line, principal: 'nobody' }), true),
      /line 4 does not continue line 3: that one was written anew$/,
    ],
    [
      'written with a name twice',
      (lines) => lines.map((text, i) => (i === 1 ? text.replace('{', '{"principal":"eve",') : text)),
      /line 2 was edited: /,
    ],
    [
      'removed',
      (lines) => lines.toSpliced(2, 1),
      /line 3 is line 4 of its chain and stands behind line 2: 1 line is missing between them$/,
    ],
    ['removed at the beginning', (lines) => lines.slice(2), /line 1 is line 3 of its chain; what came before it is missing$/],
    [
      'reordered',
      ([a, b, c, ...rest]) => [a, c, b, ...rest] as Lines,
      /line 2 is line 3 of its chain and stands behind line 1: 1 line is missing/,
    ],
    [
      'doubled',
      ([a, ...rest]) => [a, a, ...rest] as Lines,
      /line 2 is line 1 of its chain and stands behind line 1: they were reordered, or it is there twice$/,
    ],
    ['replaced by another text', (lines) => lines.with(1, 'hello'), /line 2 is not JSON$/],
    ['replaced by another object', (lines) => lines.with(1, '{"n":2}'), /line 2 is no audit line$/],
    ['replaced by null', (lines) => lines.with(1, 'null'), /line 2 is no audit line$/],
    ['given another end', (lines) => lines.with(1, `${lines[1]}\r`), /line 2 was edited: /],
    ['joined to the next by another end', ([a, b, ...rest]) => [`${a}\r${b}`, ...rest] as Lines, /line 1 is not JSON$/],
  ])('names the first line that is wrong where one was %s, and ends with 1', async (_, how, message) => {
    await write(5);
    await change(how);
    const { stdout, stderr, code } = await audit(file);
    expect([stdout, code]).toEqual(['', 1]);
    expect(stderr).toMatch(new RegExp(`^pty-gateway: ${file}: ${message.source.replace(/\$$/, '')}`));
  });

  it('names the line where another chain goes on', async () => {
    await write(5);
    const first = (await readFile(file, 'utf8')).trimEnd().split('\n');
    await rm(file);
    const audited = await openAuditFile({ file, replicaId: 'r2', now: () => 1, rotateBytes: 1_000_000 });
    for (let n = 1; n <= 5; n++) audited.record({ event: 'attach', outcome: 'granted', principal: `other ${n}` });
    await audited.close();
    await change((lines) => [...first.slice(0, 3), ...lines.slice(3)]);
    expect(await audit()).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/line 4 does not continue line 3: that one was written anew\n$/),
    });
  });

  it('names the file and the line where something is missing between two files', async () => {
    await writeInPieces(3);
    const [, second] = (await readdir(folder)).sort();
    await rm(path.join(folder, second as string));
    const { stderr, code } = await audit();
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/: line 1 is line \d+ of its chain and stands behind line \d+: \d+ lines? (is|are) missing/),
    ]);
  });

  it('follows the chain through the files that were put aside', async () => {
    await writeInPieces(4);
    const { stdout, code } = await audit('--json');
    expect([code, JSON.parse(stdout)]).toMatchObject([0, { whole: true, first: 1 }]);
    expect(JSON.parse(stdout).lines).toBeGreaterThan(40);
  });

  it('says from where on it is whole when older files were taken away', async () => {
    await writeInPieces(4);
    const [oldest] = (await readdir(folder)).sort();
    await rm(path.join(folder, oldest as string));
    const { stdout, code } = await audit();
    expect(code).toBe(0);
    expect(stdout).toMatch(/; what came before line \d+ is not here\.\n$/);
  });

  it('does not count a line that a crash left unfinished, and says so', async () => {
    await write(2);
    await writeFile(file, '{"ts":"1970', { flag: 'a' });
    const { stdout, code } = await audit();
    expect(code).toBe(0);
    expect(stdout).toMatch(/^2 lines, [^\n]*\nThe last line of [^\n]* is unfinished, as a crash leaves it; it is not counted\.\n$/);
  });

  describe('with a key', () => {
    const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const other = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const pem = async ({ publicKey }: typeof pair): Promise<string> => {
      const name = path.join(folder, 'key.pem');
      await writeFile(name, publicKey.export({ type: 'spki', format: 'pem' }));
      return name;
    };
    /** One life with so many lines, signed at its end. */
    const writeSigned = async (count: number, key = pair.privateKey) => {
      const audit = await openAuditFile({ file, replicaId: 'r1', now: () => 0, sign: signer(key) });
      for (let n = 1; n <= count; n++) audit.record({ event: 'attach', outcome: 'granted', principal: `person ${n}` });
      await audit.close();
    };

    it('says up to which line the chain is signed: at least every thousand lines, and at each end', async () => {
      await writeSigned(2500);
      await writeSigned(1);
      const lines = (await readFile(file, 'utf8'))
        .trimEnd()
        .split('\n')
        .map((text) => JSON.parse(text));
      expect(lines.flatMap(({ event, n }) => (event === 'checkpoint' ? [n] : []))).toEqual([1001, 2002, 2503, 2505]);
      const { stdout, code } = await audit('--key', await pem(pair));
      expect(code).toBe(0);
      expect(stdout).toMatch(/; signed up to line 2504\.\n$/);
    });

    it('finds a file that somebody else wrote anew from its beginning', async () => {
      await writeSigned(3, other.privateKey);
      expect(await audit()).toMatchObject({ code: 0 });
      const { stderr, code } = await audit('--key', await pem(pair));
      expect([code, stderr]).toEqual([1, `pty-gateway: ${file}: line 4 is a checkpoint that this key did not sign\n`]);
    });

    it('does not believe a file without checkpoints, as it is when it was written anew by who has no key', async () => {
      await write(3);
      const { stdout, code } = await audit('--key', await pem(pair));
      expect([code, stdout]).toEqual([1, expect.stringMatching(/; no checkpoint is signed\.\n$/)]);
    });

    it('names the first line that was written anew before a signature, though all hashes fit', async () => {
      await writeSigned(5);
      await change(rewrittenFrom(2));
      expect(await audit()).toMatchObject({ code: 0 });
      const { stderr, code } = await audit('--key', await pem(pair));
      expect([code, stderr]).toEqual([1, `pty-gateway: ${file}: line 6 is a checkpoint that this key did not sign\n`]);
    });

    it('says how far the signatures reach where the end of a chain was cut off', async () => {
      await writeSigned(3);
      await writeSigned(3);
      await change((lines) => lines.slice(0, -2));
      const { stdout, code } = await audit('--key', await pem(pair));
      expect([code, stdout]).toEqual([0, expect.stringMatching(/^6 lines, .*; signed up to line 3\.\n$/)]);
    });

    it('ends with 2 for a key that is none', async () => {
      await write(1);
      const { stderr, code } = await audit('--key', file);
      expect([stderr, code]).toEqual([expect.stringMatching(/^pty-gateway: --key [^\n]* cannot be used: [^\n]*\n$/), 2]);
    });
  });

  it('ends with 2 for a file that cannot be read', async () => {
    const { stderr, code } = await audit(path.join(folder, 'none.jsonl'));
    expect([stderr, code]).toEqual([expect.stringMatching(/^pty-gateway: ENOENT[^\n]*none\.jsonl[^\n]*\n$/), 2]);
  });
});
