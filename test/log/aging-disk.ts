// A process of its own on a tiny disk: fills it through the log, lets time pass in which what it wrote becomes old, and says as JSON what became of it.
import { openEmbeddedLog } from '../../src/log/embedded/embedded-log.js';
import { entry } from './contract.js';

const APPENDS = 200;

const [dir = ''] = process.argv.slice(2);
let now = Date.now();
let said: (() => void) | undefined;
const full = new Promise<void>((resolve) => {
  said = resolve;
});
const log = await openEmbeddedLog({ dir, now: () => now, onTrouble: () => said?.(), segmentBytes: 100_000 });
const writer = await log.create('full', {}, { frames: 3, seconds: 60 });
const firsts: number[] = [];
const writing = (async () => {
  for (let n = 0; n < APPENDS; n++) firsts.push(await writer.append([entry(Buffer.alloc(10_000, `${n} `), now)]));
})();
await full;
const takenWhenFull = writer.reader.extent().current;
// As often as the disk is full again.
const aging = setInterval(() => {
  now += 121_000;
}, 10);
await writing;
clearInterval(aging);
const { oldest } = writer.reader.extent();
await log.close();

const again = await openEmbeddedLog({ dir, now: () => now });
const reader = await again.reader('full');
const kept = (await reader.read(0, { frames: APPENDS, bytes: 100_000_000 })).map(({ sequence }) => sequence);
process.stdout.write(JSON.stringify({ takenWhenFull, firsts, oldest, kept, extent: reader.extent() }));
await again.close();
