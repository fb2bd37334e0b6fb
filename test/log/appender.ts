// A process of its own that appends until it is killed, and says what it was promised, `<session> <number>` a line, and what troubles it.
import { openEmbeddedLog } from '../../src/log/embedded/embedded-log.js';
import type { LogWriter } from '../../src/log/log.js';
import { entry, nobody } from './contract.js';

const say = (line: string) => new Promise((said) => process.stdout.write(`${line}\n`, said));

const [dir = '', ...ids] = process.argv.slice(2);
const log = await openEmbeddedLog({ dir, segmentBytes: 200_000, onTrouble: (sentence) => void say(`trouble: ${sentence}`) });

async function lane(id: string, writer: LogWriter): Promise<void> {
  for (;;) {
    const size = Math.floor(Math.random() * 20_000);
    const first = await writer.append([entry(Buffer.alloc(size, id), Date.now()), nobody, entry(`${size}`, Date.now(), 'Size')]);
    await say(`${id} ${first + 2}`);
  }
}

for (const id of ids) {
  const writer = (await log.record(id)) ? await log.claim(id) : await log.create(id, {}, { frames: 1_000_000, seconds: 86_400 });
  for (let n = 0; n < 8; n++) void lane(id, writer);
}
