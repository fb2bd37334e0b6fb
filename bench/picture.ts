// How far pictures of the screen and xterm.js in Chromium agree about the same recordings. `npm run bench:picture -- FOLDER [part of an id]`
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { Fold } from '../src/terminal/fold.js';
import { draw } from '../src/terminal/picture/draw.js';
import { inkOfPicture, inkOfXterm } from '../test/support/ink.js';
import { launch } from '../test/web/browser.js';
import { isHostile, type Recording, recordingsOf } from './support/recordings.js';

/** Recordings that are named because more of their cells than of all others differ. */
const NAMED = 15;

interface Compared {
  readonly id: string;
  readonly cells: number;
  /** Where something is drawn by one of the two alone. */
  readonly different: number;
  /** Where neither draws anything, and the grounds are not equal. */
  readonly otherGround: number;
}

async function compare(page: Page, bytes: Uint8Array, { id, cols, rows }: Recording): Promise<Compared> {
  const size = { cols, rows };
  const fold = new Fold(size);
  fold.output(1, bytes);
  const snapshot = fold.snapshot();
  fold.dispose();
  const ours = await inkOfPicture(page, draw({ snapshot, format: 'png', theme: 'dark', title: '' }), size);
  const { inks: theirs } = await inkOfXterm(page, snapshot.bytes, size);
  const count = (wanted: (i: number) => boolean): number => theirs.filter((_, i) => wanted(i)).length;
  return {
    id,
    cells: theirs.length,
    different: count((i) => theirs[i]?.isDrawn !== ours[i]?.isDrawn),
    otherGround: count((i) => !theirs[i]?.isDrawn && !ours[i]?.isDrawn && theirs[i]?.ground !== ours[i]?.ground),
  };
}

async function main(folder: string, only = ''): Promise<void> {
  const recordings = recordingsOf(folder).filter((each) => each.id.includes(only) && !isHostile(each));
  const browser = await launch();
  const compared: Compared[] = [];
  for (const recording of recordings) {
    const page = await browser.newPage({ viewport: { width: 2600, height: 1600 } });
    try {
      compared.push(await compare(page, readFileSync(path.resolve(folder, recording.file)), recording));
    } catch (error) {
      console.log(`${recording.id}: not compared: ${String(error).split('\n')[0]?.slice(0, 200)}`);
    }
    await page.close();
  }
  await browser.close();
  const sum = (of: (each: Compared) => number): number => compared.reduce((all, each) => all + of(each), 0);
  const worst = compared.filter(({ different, otherGround }) => different + otherGround > 0).sort((a, b) => b.different - a.different);
  for (const { id, cells, different, otherGround } of worst.slice(0, NAMED))
    console.log(`${id}: ${different} of ${cells} cells drawn by one alone, ${otherGround} of another ground`);
  console.log(
    `${compared.length} of ${recordings.length} recordings, ${worst.length} with a difference: ${sum((each) => each.cells)} cells, ` +
      `${sum((each) => each.different)} drawn by one alone, ${sum((each) => each.otherGround)} of another ground`,
  );
}

await main(process.argv[2] ?? '../shared/corpora', process.argv[3]);
