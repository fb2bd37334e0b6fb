// The tables of docs/capacity.md follow from what was measured, and each has its place there. Knows no gateway.
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { blocksOf, type Capacity } from '../../bench/support/capacity-page.js';

const measured: Capacity = {
  sessions: 80,
  attachments: 800,
  aloneMiB: 100,
  sessionKiB: 512,
  attachmentKiB: 26,
  beginMs: 16,
  joinMs: 4,
  quietPercent: 0.4,
  watchedPercent: 0.6,
  frameMs: 0.5,
  frameToFiveMs: 0.6,
  megabyteMs: 50,
  afterMiB: 200,
  redisSessionKiB: 4.5,
  redisFrameBytes: 400,
  redisCommands: 6,
  redisFrameMs: 0.1,
  redisMegabyteMs: 15,
};

it('every table has its place in the page, once', () => {
  const page = readFileSync('docs/capacity.md', 'utf8');
  for (const name of Object.keys(blocksOf(measured, ''))) {
    for (const mark of [`<!-- ${name}: begin -->`, `<!-- ${name}: end -->`]) expect(page.split(mark)).toHaveLength(2);
  }
});

it('what a core carries, and what Redis keeps, follow from what a frame costs', () => {
  const { replica, carries, chart, redis, kept } = blocksOf(measured, 'a quiet machine');
  expect(replica).toContain('a quiet machine.\n\n|');
  expect(carries).toMatch(/people who type and read, 2 frames\/s +\| 700 /);
  expect(carries).toMatch(/agents or logs at 10 lines\/s +\| 140 /);
  expect(carries).toMatch(/continuous output, of all sessions +\| 14 MB\/s/);
  expect(carries).toContain('(1,000): 600 MiB');
  expect(chart).toContain('50 sessions at 10 lines/s, or 250 people');
  expect(redis).toContain('One core of Redis takes about 10,000 frames/s, as many as 7.1 full replicas print.');
  expect(kept).toMatch(/at 10\/s all day +\| 864,000 +\| 330 MiB +\| 60 /);
});
