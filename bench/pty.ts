// How fast a terminal is read, beside a C program that does nothing else, and what a program that does not read costs us.
// Knows only src/terminal. Run with: npx tsx bench/pty.ts
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { childEnvironment } from '../src/terminal/environment.js';
import { spawnTerminal } from '../src/terminal/pty.js';
import type { Terminal } from '../src/terminal/terminal.js';

const FILE_MIB = 200;
const ROUNDS = 3;
const BLOCKED_SECONDS = 3;

const C_READER = `
#include <pty.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
int main(int argc, char **argv) {
  int master; struct timespec a, b; double total = 0; ssize_t n; static char buffer[65536];
  struct winsize size = {.ws_row = 30, .ws_col = 120};
  clock_gettime(CLOCK_MONOTONIC, &a);
  if (forkpty(&master, 0, 0, &size) == 0) { execlp("cat", "cat", argv[1], (char *)0); _exit(127); }
  while ((n = read(master, buffer, sizeof buffer)) > 0) total += n;
  clock_gettime(CLOCK_MONOTONIC, &b);
  printf("%f\\n", total / 1e6 / ((b.tv_sec - a.tv_sec) + (b.tv_nsec - a.tv_nsec) / 1e9));
}`;

const dir = mkdtempSync(join(tmpdir(), 'bench-pty-'));
const text = join(dir, 'text');
const reader = join(dir, 'reader');

/** MB/s, and how many pieces were handed on. */
function ours(): Promise<{ rate: number; pieces: number }> {
  return new Promise((resolve, reject) => {
    const begun = performance.now();
    let bytes = 0;
    let pieces = 0;
    const output = (piece: Uint8Array) => {
      bytes += piece.length;
      pieces++;
    };
    const exit = () => resolve({ rate: bytes / 1e3 / (performance.now() - begun), pieces });
    spawnTerminal({ argv: ['cat', text], cwd: dir, env: childEnvironment({}), cols: 120, rows: 30 }, { output, exit }).catch(reject);
  });
}

/** CPU seconds per second while 3 MiB wait for a program that never reads. */
async function blockedWriter(): Promise<number> {
  let exited = () => {};
  const exit = new Promise<void>((resolve) => {
    exited = resolve;
  });
  const argv = ['sh', '-c', 'stty raw -echo; exec sleep 1000'];
  const terminal: Terminal = await spawnTerminal(
    { argv, cwd: dir, env: childEnvironment({}), cols: 120, rows: 30 },
    { output() {}, exit: () => exited() },
  );
  await new Promise((resolve) => setTimeout(resolve, 300));
  const refused = terminal.write(new Uint8Array(3 * 1024 * 1024).fill(97)).catch(() => undefined);
  const before = process.cpuUsage();
  await new Promise((resolve) => setTimeout(resolve, BLOCKED_SECONDS * 1000));
  const used = process.cpuUsage(before);
  terminal.end(0);
  await Promise.all([exit, refused]);
  return (used.user + used.system) / 1e6 / BLOCKED_SECONDS;
}

try {
  const line = 'The quick brown fox jumps over the lazy dog, and then it sits down for a while to rest.\n';
  writeFileSync(text, line.repeat(Math.ceil((FILE_MIB * 1024 * 1024) / line.length)));
  writeFileSync(join(dir, 'reader.c'), C_READER);
  execFileSync('cc', ['-O2', '-o', reader, join(dir, 'reader.c'), '-lutil']);
  for (let round = 1; round <= ROUNDS; round++) {
    const c = Number(execFileSync(reader, [text]));
    const { rate, pieces } = await ours();
    console.log(
      `round ${round}: C ${c.toFixed(1)} MB/s, spawnTerminal ${rate.toFixed(1)} MB/s in ${pieces} pieces, ratio ${(rate / c).toFixed(2)}`,
    );
  }
  console.log(`a writer that waits: ${(100 * (await blockedWriter())).toFixed(2)} % of a core`);
} finally {
  rmSync(dir, { recursive: true, force: true });
}
