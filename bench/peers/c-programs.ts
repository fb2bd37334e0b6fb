// Programs in C that are measured beside the gateway or feed it, compiled when a bench begins. Knows no gateway.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** `reader COMMAND…` runs it on a PTY, reads all that it prints, and says bytes and seconds. */
const READER = `
#include <pty.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
int main(int argc, char **argv) {
  int master; struct timespec a, b; double total = 0; ssize_t n; static char buffer[65536];
  struct winsize size = {.ws_row = 30, .ws_col = 120};
  if (forkpty(&master, 0, 0, &size) == 0) { execvp(argv[1], argv + 1); _exit(127); }
  if (read(master, buffer, 1) != 1 || write(master, "\\n", 1) != 1) return 1;
  clock_gettime(CLOCK_MONOTONIC, &a);
  while ((n = read(master, buffer, sizeof buffer)) > 0) total += n;
  clock_gettime(CLOCK_MONOTONIC, &b);
  printf("%.0f %f\\n", total, (b.tv_sec - a.tv_sec) + (b.tv_nsec - a.tv_nsec) / 1e9);
}`;

/** `printer BYTES MICROSECONDS COUNT`: after a key, prints so many bursts of so many bytes, with so many microseconds of silence behind each; 0 bursts is without end. */
const PRINTER = `
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>
int main(int argc, char **argv) {
  size_t bytes = atol(argv[1]); long pause = atol(argv[2]), count = atol(argv[3]), n; char key, *burst = malloc(bytes);
  struct termios raw; struct timespec at;
  tcgetattr(0, &raw); cfmakeraw(&raw); tcsetattr(0, TCSANOW, &raw);
  for (size_t i = 0; i < bytes; i++) burst[i] = i % 100 == 98 ? '\\r' : i % 100 == 99 ? '\\n' : 'a' + i % 26;
  if (write(1, ".", 1) != 1 || read(0, &key, 1) != 1) return 1;
  at.tv_sec = pause / 1000000; at.tv_nsec = pause % 1000000 * 1000;
  for (n = 0; count == 0 || n < count; n++) {
    for (size_t done = 0; done < bytes;) { ssize_t w = write(1, burst + done, bytes - done); if (w < 0) return 1; done += w; }
    if (pause > 0) nanosleep(&at, 0);
  }
}`;

export interface CPrograms {
  readonly reader: string;
  readonly printer: string;
}

/** Compiles them into `folder`. */
export function compile(folder: string): CPrograms {
  const build = (name: string, source: string): string => {
    const file = join(folder, name);
    writeFileSync(`${file}.c`, source);
    execFileSync('cc', ['-O2', '-o', file, `${file}.c`, '-lutil']);
    return file;
  };
  return { reader: build('reader', READER), printer: build('printer', PRINTER) };
}
