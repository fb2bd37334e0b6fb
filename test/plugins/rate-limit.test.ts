import { describe, expect, it } from 'vitest';
import { SECRET, smallApp } from './small-app.js';
import { token } from './tokens.js';

const by = (sub: string) => token({ sub }, 'HS256', SECRET);

describe('the rate limits', () => {
  it('count the requests of a principal on an instance, and say when to come again', async () => {
    const app = await smallApp({ RATE_LIMIT_MAX: '2' });
    const status = async (path: string, sub: string) => (await app.get(path, by(sub))).status;
    expect(await status('/agents/a/sessions/1', 'alice')).toBe(200);
    expect(await status('/agents/a/sessions/2', 'alice')).toBe(200);
    const refused = await app.get('/agents/a/sessions/1', by('alice'));
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await refused.json()).toMatchObject({ error: { code: 'RATE_LIMITED', message: expect.stringMatching(/try again in \d+ s/) } });
    expect(await status('/agents/b/sessions/1', 'alice')).toBe(200);
    expect(await status('/agents/a/sessions/1', 'bob')).toBe(200);
    await app.close();
  });

  it('count upgrades apart from requests', async () => {
    const app = await smallApp({ RATE_LIMIT_MAX: '1', ATTACH_RATE_LIMIT_MAX: '1' });
    // An upgrade that nobody takes is answered as a request.
    const upgrade = () =>
      app.app.inject({ url: '/agents/a/sessions/1', headers: { authorization: `Bearer ${by('alice')}`, upgrade: 'websocket' } });
    expect((await app.get('/agents/a/sessions/1', by('alice'))).status).toBe(200);
    expect((await upgrade()).statusCode).toBe(200);
    const refused = await upgrade();
    expect(refused.statusCode).toBe(429);
    expect(refused.headers['retry-after']).toBeDefined();
    await app.close();
  });

  it('count who has no valid token by address, at addresses that do not exist too', async () => {
    const app = await smallApp({ RATE_LIMIT_MAX: '2' });
    expect((await app.get('/nothing')).status).toBe(404);
    expect((await app.get('/nothing', 'garbage')).status).toBe(404);
    expect((await app.get('/nothing')).status).toBe(429);
    await app.close();
  });

  it('leave probes alone', async () => {
    const app = await smallApp({ RATE_LIMIT_MAX: '1' });
    for (let i = 0; i < 3; i++) expect((await app.get('/probe')).status).toBe(200);
    await app.close();
  });
});
