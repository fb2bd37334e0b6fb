import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import Fastify, { type FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import context from '../../plugins/context.js';
import errors from '../../plugins/errors.js';
import web from '../../plugins/web.js';
import { openAgentsFile } from '../../src/agents/agents-file.js';
import { readConfig } from '../../src/config.js';

const outside = mkdtempSync(path.join(tmpdir(), 'page-'));
const root = path.join(outside, 'web');
let app: FastifyInstance;

beforeAll(async () => {
  mkdirSync(path.join(root, 'assets'), { recursive: true });
  for (const [file, text] of Object.entries({ 'index.html': '<!doctype html>', 'assets/main-1a2b.js': '1', '.env': 'SECRET' }))
    writeFileSync(path.join(root, file), text);
  writeFileSync(path.join(outside, 'secret'), 'SECRET');
  app = Fastify();
  await app.register(errors);
  await app.register(context, {
    config: readConfig({ PUBLIC_URL: 'https://gateway.example/terminals' }),
    agents: openAgentsFile(undefined),
  });
  await app.register(web, { root });
  await app.listen({ port: 0, host: '127.0.0.1' });
});
afterAll(() => app.close());

/** The path exactly as given: fetch would tidy it. */
const get = (at: string) =>
  new Promise<{ status: number | undefined; headers: NodeJS.Dict<string | string[]>; text: string }>((resolve, reject) => {
    const { port } = app.server.address() as { port: number };
    request({ port, path: at }, async (response) => {
      let text = '';
      for await (const chunk of response) text += chunk;
      resolve({ status: response.statusCode, headers: response.headers, text });
    })
      .on('error', reject)
      .end();
  });

describe('the page', () => {
  it('is asked for again each time, and its assets never', async () => {
    const page = await get('/');
    expect([page.status, page.headers['cache-control'], page.text]).toEqual([200, 'no-cache', '<!doctype html>']);
    const asset = await get('/assets/main-1a2b.js');
    expect([asset.status, asset.headers['cache-control']]).toEqual([200, 'public, max-age=31536000, immutable']);
  });

  it('is found under the prefix of PUBLIC_URL with a slash, so that its relative addresses hold', async () => {
    const { status, headers } = await get('/terminals');
    expect([status, headers.location]).toEqual([308, '/terminals/']);
  });

  it.each([
    '/../secret',
    '/..%2fsecret',
    '/%2e%2e/secret',
    '/assets/..%2f..%2fsecret',
    '/assets/../../secret',
    '/..%5csecret',
    '//secret',
    '/.env',
    '/%00',
    '/assets',
    '/assets/',
  ])('shows nothing but itself: %s is 404', async (at) => {
    const { status, text } = await get(at);
    expect(status).toBe(404);
    expect(JSON.parse(text)).toMatchObject({ error: { code: 'TASK_NOT_FOUND' } });
  });
});
