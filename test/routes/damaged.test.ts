// A session that the disk spoiled while the gateway was down: it alone suffers.
import { mkdirSync, mkdtempSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, expect, it } from 'vitest';
import WebSocket from 'ws';
import { type Gateway, startGateway } from './gateway.js';

let gw: Gateway | undefined;
afterEach(() => gw?.close());

interface Spoiled {
  readonly gw: Gateway;
  readonly id: string;
  readonly well: string;
}

/** Two sessions that ended; then one is spoiled, in its folder, and a gateway starts on them again. */
async function spoiled(spoil: (folder: string) => void): Promise<Spoiled> {
  const DATA_DIR = mkdtempSync(path.join(tmpdir(), 'damaged-'));
  const first = await startGateway({ DATA_DIR });
  const [id, well] = [await ended(first), await ended(first)];
  await first.close();
  spoil(path.join(DATA_DIR, 'log', 'sessions', id));
  gw = await startGateway({ DATA_DIR });
  return { gw, id, well };
}

async function ended(gateway: Gateway): Promise<string> {
  const { session_id } = await gateway.session({ argv: ['/bin/sh', '-c', 'seq 100; exit 3'] });
  await expect.poll(async () => (await gateway.call('GET', `/agents/free/sessions/${session_id}`)).json.state).toBe('closed');
  return session_id;
}

async function listed({ gw: gateway }: Spoiled): Promise<string[]> {
  const { json } = await gateway.call('GET', '/agents/free/sessions');
  return json.sessions.map((session: { session_id: string }) => session.session_id);
}

/** The rest works: nobody is told that the gateway cannot take work, and it does. */
async function expectTheRestToWork({ gw: gateway, well }: Spoiled): Promise<void> {
  expect((await gateway.call('GET', '/readyz')).json).toEqual({ status: 'ready' });
  expect((await gateway.call('GET', `/agents/free/sessions/${well}`)).json).toMatchObject({ state: 'closed', exit_code: 3 });
  expect(await ended(gateway)).toMatch(/./);
  expect((await gateway.call('GET', '/metrics')).text).toMatch(/^pty_gateway_damaged_sessions 1$/m);
}

/** How an attachment is refused. */
function refusal({ gw: gateway, id }: Spoiled): Promise<{ status: number | undefined; text: string }> {
  const url = `${gateway.base.replace('http', 'ws')}/agents/free/sessions/${id}/attach`;
  const ws = new WebSocket(url, ['pty-ws.v1'], { headers: { authorization: `Bearer ${gateway.token()}` } });
  return new Promise((resolve, reject) => {
    ws.on('open', () => reject(new Error('it was not refused')));
    ws.on('error', () => {});
    ws.on('unexpected-response', async (_request, response) => {
      let text = '';
      for await (const chunk of response) text += chunk;
      resolve({ status: response.statusCode, text });
    });
  });
}

const record = (folder: string) => path.join(folder, 'record.json');
const firstLog = (folder: string) => path.join(folder, readdirSync(folder).find((name) => name.endsWith('.log')) as string);

it.each<[string, (folder: string) => void]>([
  ['is empty', (folder) => truncateSync(record(folder), 0)],
  ['is half there', (folder) => truncateSync(record(folder), 50)],
  ['is missing', (folder) => rmSync(record(folder))],
  ['is a folder', (folder) => [rmSync(record(folder)), mkdirSync(record(folder))]],
])('a session whose record %s is left out, and the rest works', async (_what, spoil) => {
  const all = await spoiled(spoil);
  expect(await listed(all)).toEqual([all.well]);
  expect((await all.gw.call('GET', `/agents/free/sessions/${all.id}`)).status).toBe(404);
  expect((await refusal(all)).status).toBe(404);
  await expectTheRestToWork(all);
});

it.each<[string, (folder: string) => void]>([
  ['are missing', (folder) => rmSync(firstLog(folder))],
  ['are something else', (folder) => writeFileSync(firstLog(folder), 'x'.repeat(10_000))],
])('a session whose frames %s is told as far as it can be, and the rest works', async (_what, spoil) => {
  const all = await spoiled(spoil);
  const { status, json } = await all.gw.call('GET', `/agents/free/sessions/${all.id}`);
  const damage = 'what is kept of this session is damaged and cannot be read';
  expect([status, json]).toEqual([200, expect.objectContaining({ session_id: all.id, state: 'closed', exit_code: 3, damage })]);
  expect(await refusal(all)).toEqual({ status: 500, text: expect.stringContaining(`"message":"${damage}"`) });
  expect(await listed(all)).toEqual([all.well]);
  await expectTheRestToWork(all);
});

it('a session whose folder is taken away while it runs is given up, and the rest works', async () => {
  gw = await startGateway();
  const well = await ended(gw);
  const { session_id: id } = await gw.session({ argv: ['/bin/cat'] });
  rmSync(path.join(gw.dataDir, 'log', 'sessions', id), { recursive: true });
  expect((await gw.call('DELETE', `/agents/free/sessions/${id}`)).status).toBe(202);
  await expect.poll(() => gw?.app.sessionLog.damaged()).toEqual([expect.stringContaining(`session ${id} is damaged: its folder`)]);
  await expectTheRestToWork({ gw, id, well });
});
