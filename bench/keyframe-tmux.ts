// How far our screen and tmux's agree about the same recordings: text of the screen at their end. `npx tsx bench/keyframe-tmux.ts [folder] [part of an id]`
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as later } from 'node:timers/promises';
import { Fold } from '../src/terminal/fold.js';
import { isHostile, type Recording, recordingsOf } from './support/recordings.js';

/** Milliseconds between two looks at tmux's screen; it is taken to be at rest when two looks are the same. */
const LOOK_MS = 60;
const PATIENCE_MS = 10_000;

/** A tmux server of its own, with no configuration but what makes its panes as large as they are asked to be. */
class Tmux {
  readonly #dir = mkdtempSync(path.join(tmpdir(), 'tmux-'));
  readonly #socket = path.join(this.#dir, 'socket');

  constructor() {
    const file = path.join(this.#dir, 'conf');
    writeFileSync(file, 'set -g status off\nset -g remain-on-exit on\nset -g allow-rename off\nset -g default-terminal xterm-256color\n');
    this.#run('-f', file, 'new-session', '-d', '-s', 'base', 'sleep 100000');
  }

  /** The lines of a pane that was fed with a file, blanks at their end trimmed. */
  async linesOf(file: string, { cols, rows }: Recording): Promise<string[]> {
    const done = path.join(this.#dir, 'done');
    rmSync(done, { force: true });
    const command = `stty raw -echo; cat '${file}'; touch '${done}'; sleep 100000`;
    this.#run('new-session', '-d', '-s', 'one', '-x', `${cols}`, '-y', `${rows}`, command);
    try {
      return await this.#atRest(done);
    } finally {
      this.#run('kill-session', '-t', 'one');
    }
  }

  close(): void {
    this.#run('kill-server');
    rmSync(this.#dir, { recursive: true, force: true });
  }

  async #atRest(done: string): Promise<string[]> {
    const deadline = Date.now() + PATIENCE_MS;
    let last = '';
    while (Date.now() < deadline) {
      await later(LOOK_MS);
      const now = this.#run('capture-pane', '-p', '-t', 'one');
      if (now === last && exists(done)) break;
      last = now;
    }
    return last.split('\n').map((line) => line.trimEnd());
  }

  #run(...args: string[]): string {
    return execFileSync('tmux', ['-S', this.#socket, ...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  }
}

function exists(file: string): boolean {
  try {
    readFileSync(file);
    return true;
  } catch {
    return false;
  }
}

function ourLines(bytes: Uint8Array, { cols, rows }: Recording): string[] {
  const fold = new Fold({ cols, rows });
  fold.output(1, bytes);
  const lines = [...fold.view().lines];
  fold.dispose();
  return lines;
}

async function main(folder: string, only = ''): Promise<void> {
  const tmux = new Tmux();
  const sums = new Map<string, { equal: number; all: number; rows: number; equalRows: number }>();
  const recordings = recordingsOf(folder).filter((each) => each.id.includes(only) && !isHostile(each));
  for (const recording of recordings) {
    const file = path.resolve(folder, recording.file);
    const ours = ourLines(readFileSync(file), recording);
    const theirs = await tmux.linesOf(file, recording).catch((error) => [String(error).slice(0, 200)]);
    const wrong = ours.map((_, y) => y).filter((y) => ours[y] !== (theirs[y] ?? ''));
    const sum = sums.get(recording.source) ?? { equal: 0, all: 0, rows: 0, equalRows: 0 };
    sums.set(recording.source, sum);
    sum.all += 1;
    sum.rows += ours.length;
    sum.equalRows += ours.length - wrong.length;
    if (wrong.length === 0) sum.equal += 1;
    else {
      const y = wrong[0] as number;
      console.log(
        `${recording.id}: ${wrong.length} rows; row ${y}: ${JSON.stringify(ours[y])} and in tmux ${JSON.stringify(theirs[y])}`.slice(
          0,
          300,
        ),
      );
    }
  }
  tmux.close();
  for (const [source, { equal, all, rows, equalRows }] of sums)
    console.log(`${source}: ${equal} of ${all} screens equal, ${((100 * equalRows) / rows).toFixed(1)} % of ${rows} rows`);
  const total = [...sums.values()];
  const add = (of: (sum: (typeof total)[number]) => number): number => total.reduce((all, sum) => all + of(sum), 0);
  const share = (100 * add((s) => s.equal)) / add((s) => s.all);
  const rowShare = (100 * add((s) => s.equalRows)) / add((s) => s.rows);
  console.log(`all: ${share.toFixed(1)} % of ${add((s) => s.all)} screens equal, ${rowShare.toFixed(1)} % of rows`);
}

await main(process.argv[2] ?? '../shared/corpora', process.argv[3]);
