// Three kinds of secrets, printed in many ways, and every place where what a terminal printed can be seen or is kept: they are in none of them.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { EXTENSION_URI } from '../../src/protocol/names.js';
import { formsOf } from '../../src/redaction/forms.js';
import { message } from '../a2a/speaker.js';
import { type Gateway, startGateway } from '../routes/gateway.js';
import { Client } from '../support/attach-server.js';
import { LegacyClient } from '../support/legacy-client.js';
import { needs } from '../support/needs.js';
import { openReceiver, type Receiver } from '../support/receiver.js';
import { type RedisServer, startRedis } from '../support/redis.js';

const LEASED = 'k9!vX2"mQ7/rT4+wZ8';
const TOKEN = `ghp_${'aB3dE5gH7jK9mN1pQ3sT5vX7zA9cE1gH3jK5'}`;
const KEY_LINE = 'MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj';
const PRIVATE_KEY = `-----BEGIN PRIVATE KEY-----\r\n${KEY_LINE}\r\n${KEY_LINE}\r\n-----END PRIVATE KEY-----`;
const END = 'all is printed';
const LABEL = 'a session with secrets';

const between = (text: string, what: string) => [...text].join(what);
/** What a program may print, each on lines of its own. */
const ways = (secret: string): string[] => [
  secret,
  `colours ${between(secret, '\x1b[31m')}\x1b[m`,
  `unseen ${between(secret, '\u200b')} and ${between(secret, '\ufeff')}`,
  `title \x1b]0;${secret}\x07, link \x1b]8;;http://x/${secret}\x07y\x1b]8;;\x07`,
  `${'-'.repeat(75)}${secret}`,
  `corrected ${secret.slice(0, 6)}q\b${secret.slice(6)}`,
  `tall ${between(secret, '\x1b[K')}`,
  `twice ${secret}${secret}`,
  `base64 ${Buffer.from(`user:${secret}`).toString('base64')}`,
  `address https://x/?a=${encodeURIComponent(secret)}&b=1`,
  `json ${JSON.stringify({ password: secret })}`,
];
const printed = [...ways(LEASED), ...ways(TOKEN).slice(0, 8), PRIVATE_KEY, END].join('\r\n');

/** In the forms in which they were printed; of the others only what must not be readable. */
const sought = [...formsOf(LEASED).map((form) => Buffer.from(form).toString()), TOKEN.slice(8), TOKEN.slice(0, 20), KEY_LINE.slice(20)];
/** As somebody reads it: without sequences, line breaks, and what has no width. */
const readable = (text: string) =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is left out
  text.replaceAll(/\x1b\[[0-9;?]*[A-Za-z]|\x1b\].*?(?:\x07|\x1b\\)|[\0-\x1f\x7f\u200b\ufeff]|\\u001b\[[0-9;?]*[A-Za-z]|\\r|\\n/g, '');

/** All places, by name. */
class Places {
  readonly #found = new Map<string, string>();

  add(place: string, text: string): void {
    this.#found.set(place, (this.#found.get(place) ?? '') + text);
  }

  /** What a client was sent, as it came and with what is in base64 in it. */
  frames(place: string, frames: Client['frames']): void {
    for (const frame of frames) {
      this.add(place, frame.toString('latin1' as never));
      if (Buffer.isBuffer(frame)) this.add(`${place}, printed`, frame.subarray(13).toString());
      else {
        this.add(place, JSON.stringify(frame));
        const bytes = (frame.payload.data ?? frame.payload.snapshot) as string | undefined;
        if (bytes !== undefined) this.add(`${place}, ${frame.payload.kind}`, Buffer.from(bytes, 'base64').toString());
      }
    }
  }

  expectNothing(): void {
    for (const [place, text] of this.#found) {
      expect([place, sought.filter((one) => text.includes(one) || readable(text).includes(one))]).toEqual([place, []]);
    }
  }

  /** Otherwise nothing was looked at. */
  expectShown(...places: readonly string[]): void {
    for (const place of places) expect([place, (this.#found.get(place) ?? '').includes(END)]).toEqual([place, true]);
  }
}

let gateway: Gateway;
let receiver: Receiver;
let redis: RedisServer | undefined;
afterEach(async () => {
  await gateway.close();
  await receiver.close();
  await redis?.dispose();
  redis = undefined;
});

/** What is in the files of a folder, and what they are called. */
function filesIn(dir: string): string {
  const files = readdirSync(dir, { recursive: true, withFileTypes: true }).filter((file) => file.isFile() && file.name !== 'printed');
  return files.map((file) => `${file.name}\n${readFileSync(path.join(file.parentPath, file.name))}`).join('\n');
}

async function attach(url: string, protocol: string, replay_from?: number): Promise<Client> {
  const ws = new WebSocket(url, [protocol], { headers: { authorization: `Bearer ${gateway.token()}` } });
  const client = new Client(ws);
  client.ws.once('open', () => client.join({ role: 'observer', session_id: undefined }, { extensions: [EXTENSION_URI], replay_from }));
  await client.until('Keyframe');
  return client;
}

/** Prints, waits for a message, and prints again. */
async function begin() {
  const file = path.join(gateway.dataDir, 'printed');
  writeFileSync(file, `${printed}\r\n`);
  const argv = ['/bin/sh', '-c', `while read line; do cat ${file}; done`];
  return gateway.session({ argv, label: LABEL, secrets: [LEASED], default_role: 'observer', cols: 80, rows: 60 });
}

async function printAgain(taskId: string): Promise<void> {
  const configuration = { taskPushNotificationConfig: { url: receiver.url }, returnImmediately: true };
  const body = { message: message('again', { taskId }), configuration };
  const { status } = await gateway.call('POST', '/agents/free/a2a/v1/message:send', { headers: { 'a2a-version': '1.0' }, body });
  expect(status).toBe(200);
  await receiver.until(() => receiver.got.some(({ text }) => text.includes(END)));
}

async function lookEverywhere(): Promise<Places> {
  const places = new Places();
  const { session_id, pty_ws_url } = await begin();
  const live = [await attach(pty_ws_url, 'pty-ws.v1'), await attach(pty_ws_url, 'pty-ws.v1.binary')] as const;
  await printAgain(session_id);
  const late = await attach(pty_ws_url, 'pty-ws.v1', 0);
  const legacy = await LegacyClient.attach(pty_ws_url, { token: gateway.token(), replayFrom: 0 });
  await legacy.shown(END);
  places.frames('JSON', live[0].frames);
  places.frames('binary', live[1].frames);
  places.frames('replay', late.frames);
  places.add('legacy', JSON.stringify(legacy.frames) + legacy.output);
  const at = `/agents/free/sessions/${session_id}`;
  const reads = ['', '/screen', '/screen?format=text', '/screen?format=ansi', '/transcript?format=ndjson', '/transcript?format=text'];
  for (const what of [...reads, '/transcript?format=asciicast', '/transcript?format=text&q=printed'])
    places.add(what, (await gateway.call('GET', at + what)).text);
  places.add('list', (await gateway.call('GET', '/agents/free/sessions')).text);
  places.add('task', (await gateway.call('GET', `/agents/free/a2a/v1/tasks/${session_id}`, { headers: { 'a2a-version': '1.0' } })).text);
  places.add('pushed', receiver.got.map(({ text, headers }) => text + JSON.stringify(headers)).join('\n'));
  await gateway.call('DELETE', at);
  await expect.poll(() => gateway.logged()).toContain('session closed');
  places.add('metrics', (await gateway.call('GET', '/metrics')).text);
  places.add('log', gateway.logged());
  places.add('files', filesIn(gateway.dataDir));
  for (const client of [...live, late]) client.ws.close();
  legacy.cut();
  return places;
}

const SHOWN = [
  'JSON, Output',
  'binary, printed',
  'replay, Output',
  'replay, Keyframe',
  'legacy',
  '/screen',
  '/screen?format=text',
  '/screen?format=ansi',
];
const KEPT = [
  '/transcript?format=ndjson',
  '/transcript?format=text',
  '/transcript?format=asciicast',
  '/transcript?format=text&q=printed',
  'task',
  'pushed',
];

describe('A leased secret, a token and a private key that a program prints', () => {
  it('are nowhere to be read, and nowhere on the disk', async () => {
    receiver = await openReceiver();
    gateway = await startGateway({ LOG_LEVEL: 'trace', PUSH_ALLOWED_HOSTS: `localhost:${receiver.port}` });
    const places = await lookEverywhere();
    places.expectShown(...SHOWN, ...KEPT, 'files');
    places.expectNothing();
  });
});

describe('The same in an archive', () => {
  let archive: string;
  beforeEach(() => {
    archive = mkdtempSync(path.join(tmpdir(), 'archive-'));
  });
  afterEach(() => rmSync(archive, { recursive: true }));

  async function archived(env: NodeJS.ProcessEnv): Promise<Places> {
    receiver = await openReceiver();
    const push = { PUSH_ALLOWED_HOSTS: `localhost:${receiver.port}` };
    gateway = await startGateway({ LOG_LEVEL: 'trace', ARCHIVE_URL: pathToFileURL(archive).href, ...push, ...env });
    const places = await lookEverywhere();
    await gateway.app.close();
    places.add('archive', filesIn(archive));
    return places;
  }

  it('are in no segment, record or name', async () => {
    const places = await archived({});
    places.expectShown(...SHOWN, ...KEPT, 'archive');
    places.expectNothing();
  });

  it('are in nothing of it with keys, nor is anything else that was printed or said', async () => {
    const places = await archived({ REPLAY_ENCRYPTION_KEYS: `k1:${Buffer.alloc(32, 7).toString('base64')}` });
    places.expectNothing();
    const files = filesIn(archive);
    expect(files).toContain('"sealed"');
    expect([END, 'colours', LABEL, '/bin/sh', 'alice'].filter((word) => files.includes(word))).toEqual([]);
  });
});

needs('redis-server')('The same with Redis', () => {
  it('are nowhere in what it writes', async () => {
    redis = await startRedis('--appendonly', 'yes', '--appendfsync', 'always', '--aof-use-rdb-preamble', 'no');
    receiver = await openReceiver();
    gateway = await startGateway({ LOG_LEVEL: 'trace', REDIS_URL: redis.url, PUSH_ALLOWED_HOSTS: `localhost:${receiver.port}` });
    const places = await lookEverywhere();
    places.add('Redis', filesIn(redis.dir));
    places.expectShown(...SHOWN, ...KEPT, 'Redis');
    places.expectNothing();
  });
});
