// A folder of one question, with the programs and files that it needs; gone with it. Knows no server.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from '../peers/programs.js';

export interface Workshop {
  readonly folder: string;
  /** A file of so many bytes of text. */
  file(bytes: number): string;
  close(): void;
}

export function openWorkshop(): Workshop {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  return {
    folder,
    file(bytes) {
      const path = join(folder, `text-${bytes}`);
      writeFileSync(path, text(bytes));
      return path;
    },
    close: () => rmSync(folder, { recursive: true, force: true }),
  };
}
