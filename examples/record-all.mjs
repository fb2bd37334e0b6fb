// Keeps a recording of every session of an agent once it has ended, as an asciicast: node record-all.mjs URL_OF_THE_AGENT FOLDER
// PTY_GATEWAY_TOKEN needs pty:observe. Goes on until it is stopped, also while the gateway is away; begun again, it records what it has not yet.
// `asciinema play FILE` and `pty-gateway play FILE` play one.
import { createWriteStream, existsSync, mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as later } from 'node:timers/promises';

const [agent = 'http://127.0.0.1:8080/agents/shell', folder = 'recordings'] = process.argv.slice(2);
const EVERY_MS = 2000;
mkdirSync(folder, { recursive: true });

for (;;) {
  await recordAll().catch(({ message, cause }) => console.error(cause?.message || cause?.code || message));
  await later(EVERY_MS);
}

async function recordAll() {
  for await (const { session_id } of endedSessions()) await record(session_id);
}

async function* endedSessions() {
  let page;
  do {
    const list = await (await ask(`/sessions?state=closed${page ? `&page_token=${page}` : ''}`)).json();
    yield* list.sessions;
    page = list.next_page_token;
  } while (page);
}

/** A file has its name only when it is whole. */
async function record(id) {
  const file = join(folder, `${id}.cast`);
  if (existsSync(file)) return;
  const { body } = await ask(`/sessions/${id}/transcript?format=asciicast`);
  await pipeline(Readable.fromWeb(body), createWriteStream(`${file}.part`));
  renameSync(`${file}.part`, file);
  console.log(file);
}

async function ask(path) {
  const response = await fetch(agent + path, { headers: { authorization: `Bearer ${process.env.PTY_GATEWAY_TOKEN}` } });
  if (response.ok) return response;
  throw new Error(`${path}: ${(await response.json()).error.message}`);
}
