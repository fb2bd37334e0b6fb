// A process of its own on a tiny disk: fills it through the log, makes room, and says as JSON what became of its appends.
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openEmbeddedLog } from '../../src/log/embedded/embedded-log.js';
import { entry } from './contract.js';

const [dir = ''] = process.argv.slice(2);
const ballast = join(dir, 'ballast');
writeFileSync(ballast, Buffer.alloc(600_000));

let said: ((sentence: string) => void) | undefined;
const full = new Promise<string>((resolve) => {
  said = resolve;
});
const log = await openEmbeddedLog({ dir, onTrouble: (sentence) => said?.(sentence) });
const writer = await log.create('full', {}, { frames: 1_000_000, seconds: 86_400 });
const told: number[] = [];
writer.reader.follow((entries) => told.push(...entries.map((one) => one.sequence)));

const appends = Array.from({ length: 60 }, (_, n) => writer.append([entry(Buffer.alloc(10_000, `${n} `), Date.now())]));
const sentence = await full;
const takenWhenFull = told.length;
rmSync(ballast);
const firsts = await Promise.all(appends);
const trouble = log.trouble() ?? null;
await log.close();

const again = await openEmbeddedLog({ dir });
const kept = await (await again.reader('full')).read(0, { frames: 1_000, bytes: 100_000_000 });
const bodies = kept.map((one) => Number(Buffer.from(one.body).toString().split(' ')[0]));
await again.close();
process.stdout.write(JSON.stringify({ sentence, takenWhenFull, firsts, told, trouble, bodies }));
