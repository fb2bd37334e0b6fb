// Recordings of terminals in a folder: `manifest.json` is a list of these, and each names its file. Knows no terminal.
import { readFileSync } from 'node:fs';
import path from 'node:path';

export interface Recording {
  readonly id: string;
  /** Where it comes from. */
  readonly source: string;
  readonly cols: number;
  readonly rows: number;
  readonly file: string;
}

export const recordingsOf = (folder: string): Recording[] => JSON.parse(readFileSync(path.join(folder, 'manifest.json'), 'utf8'));

/** Found by a fuzzer, printed by no program. */
export const isHostile = ({ source }: Recording): boolean => /fuzz|cmin/.test(source);
