// `pty-gateway replicas`, `drain`, `log-level` and `sessions --watch`, on built gateways.
import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type Gateways, startGateways, tokenFor } from '../support/gateways.js';
import { needs } from '../support/needs.js';
import { Onlooker } from '../support/onlooker.js';
import { until } from '../support/redis.js';
import { command } from './person.js';

vi.setConfig({ testTimeout: 120_000 });

needs('redis-server', 'redis-cli')('An operator', () => {
  let gateways: Gateways;
  const logs = mkdtempSync(join(tmpdir(), 'replicas-'));
  beforeAll(async () => {
    gateways = await startGateways({ env: { DRAIN_SECONDS: '60', LOG_LEVEL: 'info' }, logs });
  }, 120_000);
  afterAll(async () => {
    await gateways?.dispose();
    await rm(logs, { recursive: true, force: true });
  });
  const env = (index: number, scope: 'pty:admin' | 'pty:observe' = 'pty:admin') => ({
    PATH: process.env.PATH,
    PTY_GATEWAY_URL: `http://127.0.0.1:${gateways.at(index).port}`,
    PTY_GATEWAY_TOKEN: tokenFor('operator', scope),
  });
  const run = async (args: string[], given = env(0)) => {
    const { stdout, stderr, code = 0 } = await promisify(execFile)(process.execPath, [command, ...args], { env: given }).catch((e) => e);
    return { stdout: String(stdout), stderr: String(stderr), code: Number(code) };
  };
  const said = (index: number) => readFileSync(join(logs, `replica-${index}.log`), 'utf8');

  it('sees the replicas, whichever is asked', async () => {
    await gateways.begin(gateways.at(1));
    const { stdout } = await run(['replicas']);
    expect(stdout).toMatch(/^REPLICA +STATE +VERSION +AGE +SESSIONS +HERE +CONNECTIONS +LOGS\n/);
    expect(stdout).toMatch(/^replica-0 +ready +\d\S+ +\d+[smh] +0 +0 +0 +info$/m);
    expect(stdout).toMatch(/^replica-1 +ready +\d\S+ +\d+[smh] +1 +0 +0 +info$/m);
    const json = JSON.parse((await run(['replicas', '--json'], env(1))).stdout);
    expect(json).toMatchObject([{ replica_id: 'replica-1' }, { replica_id: 'replica-0' }]);
  });

  it('makes all of them log more, or one of them, and the log shows it', async () => {
    expect((await run(['log-level', 'debug'])).stdout.split('\n').sort()).toEqual([
      '',
      'replica-0 logs at debug',
      'replica-1 logs at debug',
    ]);
    await gateways.ask(gateways.at(1), 'GET', '');
    await until('a read is told', async () => said(1).includes('"path":"/agents/shell/sessions"'));
    expect((await run(['log-level', 'warn', 'replica-1'])).stdout).toBe('replica-1 logs at warn\n');
    expect((await run(['replicas'])).stdout).toMatch(/replica-0 .*debug\nreplica-1 .*warn\n/);
  });

  it('is told what to do when something is wrong', async () => {
    expect(await run(['drain'])).toEqual({
      stdout: '',
      stderr: 'pty-gateway: there are several replicas: name one of replica-0, replica-1\n',
      code: 1,
    });
    expect((await run(['drain', 'replica-9'])).stderr).toMatch(/no replica replica-9 lives; `pty-gateway replicas` lists those that do/);
    expect((await run(['replicas'], env(0, 'pty:observe'))).stderr).toBe('pty-gateway: this needs the scope pty:admin\n');
    expect((await run(['log-level', 'loud'])).stderr).toMatch(/Allowed choices are trace, debug, info, warn, error, fatal, silent/);
  });

  it('watches sessions come and go', async () => {
    const child = spawn(process.execPath, [command, 'sessions', '--watch', '--json'], { env: env(0) });
    let out = '';
    child.stdout.on('data', (data) => (out += data));
    const labels = () =>
      out
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line || '[]').map(({ label }: { label?: string }) => label));
    await until('it looks', async () => out.endsWith('\n'));
    const { session_id } = (await gateways.ask(gateways.at(0), 'POST', '', { label: 'new' })).body;
    await until('it sees the new one', async () => out.endsWith('\n') && labels().at(-1)?.includes('new'), 20_000);
    await gateways.ask(gateways.at(0), 'DELETE', `/${session_id}`);
    await until('it is gone', async () => out.endsWith('\n') && !labels().at(-1)?.includes('new'), 20_000);
    child.kill();
  });

  it('drains one through another, and sees what is left until it has ended', async () => {
    const id = await gateways.begin(gateways.at(1));
    const onlooker = new Onlooker({
      url: gateways.urlOf(id, gateways.at(0)),
      token: tokenFor('onlooker', 'pty:control'),
      role: 'observer',
    });
    await until('somebody is there', async () => /replica-1 +ready .* 1 +\d+ +\w+$/m.test((await run(['replicas'])).stdout), 20_000);
    const child = spawn(process.execPath, [command, 'drain', 'replica-1', '--wait', '--json'], { env: env(0) });
    let out = '';
    child.stdout.on('data', (data) => (out += data));
    const exit = new Promise((resolve) => child.once('exit', resolve));
    const states = () =>
      out
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line));
    await until('it drains', async () => out.split('\n').length > 3, 20_000);
    expect(states().at(-1)).toMatchObject({ replica_id: 'replica-1', state: 'draining', members: 1, seconds_left: expect.any(Number) });
    expect(states().at(-1).seconds_left).toBeLessThanOrEqual(63);
    onlooker.client.close();
    expect(await exit).toBe(0);
    expect(states().at(-1)).toEqual({ replica_id: 'replica-1', state: 'ended' });
    expect(await gateways.at(1).stop()).toBe(0);
    expect(JSON.parse((await run(['replicas', '--json'])).stdout)).toHaveLength(1);
  });

  it('drains the only one there is, which is the one that is asked', async () => {
    const { stdout, code } = await run(['drain', '--wait']);
    expect(stdout).toMatch(
      /^replica-0 drains: 0 sessions, 0 members; what is left ends in \d+ s at the latest\n(replica-0 drains.*\n)*replica-0 has ended\n$/,
    );
    expect(code).toBe(0);
    expect(await gateways.at(0).stop()).toBe(0);
  });
});
