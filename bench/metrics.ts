// What counting costs, for each of the ways in which parts do it, and what a scrape costs. Run: npm run bench:metrics
import { Metrics } from '../src/metrics/metrics.js';

const TIMES = 1_000_000;
const SCRAPES = 200;

const metrics = new Metrics();
let frames = 0;

const ways: Record<string, (i: number) => void> = {
  'a field of a connection, added to for each frame': () => {
    frames += 1;
  },
  'a counter without labels, for each piece of output and each append': (i) => metrics.count('terminal_output_bytes_total', i),
  'a counter with labels, for each refusal': () => metrics.count('refusals_total', 1, { face: 'http', code: 'UNAUTHENTICATED' }),
  'a histogram, for each append and each frame of output that is delivered': (i) => metrics.observe('log_append_seconds', (i % 1000) / 1e5),
};

function nanosecondsEach(work: (i: number) => void): number {
  for (let i = 0; i < TIMES / 10; i++) work(i);
  const begun = performance.now();
  for (let i = 0; i < TIMES; i++) work(i);
  return ((performance.now() - begun) * 1e6) / TIMES;
}

for (const [name, work] of Object.entries(ways)) console.log(`${nanosecondsEach(work).toFixed(0).padStart(6)} ns  ${name}`);
const begun = performance.now();
for (let i = 0; i < SCRAPES; i++) await metrics.text();
console.log(`${((performance.now() - begun) / SCRAPES).toFixed(2).padStart(6)} ms  a scrape (${frames} frames were counted)`);
