// How exact Keyframes are: recordings cut at several places, restored on a fresh and on a dirty terminal, looked at, and played to their end. `npx tsx bench/keyframe.ts [folder]`
// A folder has `manifest.json`: [{id, source, cols, rows, file}], and the files it names.
import { type ChildProcess, fork } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Fold } from '../src/terminal/fold.js';
import type { Size } from '../src/terminal/terminal.js';
import { DIRT, difference, feed, type Look, lookOf, reference } from '../test/support/look.js';
import { isHostile, type Recording, recordingsOf } from './support/recordings.js';

/** Empty if all was exact; else the first difference. */
type Verdict = {
  readonly id: string;
  readonly difference: string;
  readonly snapshots: number;
  readonly bytes: number;
  /** Bytes of its largest snapshot. */
  readonly largest: number;
  readonly ms: number;
};

/** Milliseconds for one recording, after which the reference terminal is taken to hang. */
const PATIENCE_MS = 30_000;
const SHARES = [0.25, 0.5, 0.75, 1];

/** A place that is the same in every run. */
const randomCut = (id: string, length: number): number =>
  [...id].reduce((hash, c) => (hash * 31 + c.charCodeAt(0)) >>> 0, 7) % (length + 1);

/** Of a terminal after this. */
async function lookAfter({ cols, rows }: Size, ...streams: ReadonlyArray<Uint8Array | string>): Promise<Look> {
  const terminal = reference(cols, rows);
  await feed(terminal, ...streams);
  const look = lookOf(terminal);
  terminal.dispose();
  return look;
}

async function judge(folder: string, { id, cols, rows, file }: Recording): Promise<Verdict> {
  const bytes = readFileSync(path.join(folder, file));
  const expected = await lookAfter({ cols, rows }, bytes);
  const verdict = { id, difference: '', snapshots: 0, bytes: 0, largest: 0, ms: 0 };
  for (const at of [...SHARES.map((share) => Math.floor(bytes.length * share)), randomCut(id, bytes.length)]) {
    const fold = new Fold({ cols, rows });
    fold.output(1, bytes.subarray(0, at));
    const begun = performance.now();
    const { bytes: snapshot } = fold.snapshot();
    verdict.ms += performance.now() - begun;
    verdict.bytes += snapshot.length;
    verdict.largest = Math.max(verdict.largest, snapshot.length);
    verdict.snapshots += 1;
    const here = await lookAfter({ cols, rows }, bytes.subarray(0, at));
    for (const before of ['', DIRT]) {
      const where = `cut at ${at}${before && ', dirty'}`;
      const found = difference(await lookAfter({ cols, rows }, before, snapshot), here);
      if (found) verdict.difference ||= `${where}, restored: ${found}`;
      const foundLater = difference(await lookAfter({ cols, rows }, before, snapshot, bytes.subarray(at)), expected);
      if (foundLater) verdict.difference ||= `${where}, and played on: ${foundLater}`;
    }
  }
  return verdict;
}

/** One child after another: a reference terminal that hangs can only be killed. */
class Judges {
  #child: ChildProcess | undefined;

  async ask(folder: string, recording: Recording): Promise<Verdict> {
    this.#child ??= fork(fileURLToPath(import.meta.url), ['--judge', folder], { stdio: ['ignore', 'inherit', 'ignore', 'ipc'] });
    const child = this.#child;
    const failed = (difference: string): Verdict => ({ id: recording.id, difference, snapshots: 0, bytes: 0, largest: 0, ms: 0 });
    const verdict = await new Promise<Verdict>((resolve) => {
      const timer = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS);
      const gone = () => resolve(failed('the terminal hung or died'));
      child.once('exit', gone);
      child.once('message', (message: Verdict) => {
        clearTimeout(timer);
        child.off('exit', gone);
        resolve(message);
      });
      child.send(recording);
    });
    if (verdict.snapshots === 0) this.end();
    return verdict;
  }

  end(): void {
    this.#child?.kill();
    this.#child = undefined;
  }
}

async function main(folder: string, only: string | undefined): Promise<void> {
  const recordings = recordingsOf(folder).filter(({ id }) => !only || id.includes(only));
  const judges = new Judges();
  const verdicts: Verdict[] = [];
  for (const recording of recordings) {
    const verdict = await judges.ask(folder, recording);
    verdicts.push(verdict);
    if (verdict.difference) console.log(`${verdict.id}: ${verdict.difference.slice(0, 400)}`);
  }
  judges.end();
  console.log('| recordings | exact | a Keyframe, bytes | the largest | to make it, ms |');
  console.log('|---|---|---|---|---|');
  for (const [name, ids] of categoriesOf(recordings)) {
    const some = verdicts.filter(({ id }) => ids.has(id));
    if (some.length > 0) console.log(rowOf(name, some));
  }
}

/** Each source, then all of either kind. */
function categoriesOf(recordings: readonly Recording[]): Map<string, Set<string>> {
  const categories = new Map<string, Set<string>>();
  for (const recording of recordings) {
    const { id, source } = recording;
    for (const name of [source, isHostile(recording) ? 'all hostile' : 'all real']) {
      categories.set(name, (categories.get(name) ?? new Set()).add(id));
    }
  }
  return new Map([...categories].sort(([one], [other]) => Number(one.startsWith('all')) - Number(other.startsWith('all'))));
}

function rowOf(name: string, some: readonly Verdict[]): string {
  const exact = some.filter(({ difference }) => !difference).length;
  const sum = (of: (verdict: Verdict) => number): number => some.reduce((total, verdict) => total + of(verdict), 0);
  const each = sum((v) => v.snapshots) || 1;
  const largest = Math.max(...some.map((v) => v.largest));
  return `| ${name} | ${exact} of ${some.length} | ${Math.round(sum((v) => v.bytes) / each)} | ${largest} | ${(sum((v) => v.ms) / each).toFixed(2)} |`;
}

function answer(folder: string): void {
  process.on('message', (recording: Recording) => {
    judge(folder, recording).then(
      (verdict) => process.send?.(verdict),
      (error) => process.send?.({ id: recording.id, difference: String(error?.stack ?? error), snapshots: 0, bytes: 0, largest: 0, ms: 0 }),
    );
  });
}

const [first, second] = process.argv.slice(2);
if (first === '--judge') answer(second as string);
else await main(first ?? '../shared/corpora', second);
