// Draws docs/dashboard.png: the dashboard of the chart, from a real Prometheus that watched two replicas at work, one of whose minutes was bad. Run: npm run bench:dashboard
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { Resvg } from '@resvg/resvg-js';
import { type Gateways, startGateways, tokenFor } from '../test/support/gateways.js';
import { Onlooker } from '../test/support/onlooker.js';
import { plainClient } from '../test/support/plain-client.js';
import { Prometheus } from '../test/support/prometheus.js';
import { type Dashboard, draw } from './support/dashboard.js';

const SESSIONS = 12;
const ONLOOKERS = 36;
/** Seconds of each part: all is well, Redis is kept busy by somebody else, all is well again. */
const WELL = 50;
const BUSY = 25;
const AFTER = 35;
/** Seconds in which it is sent away; on a machine that is too busy to flood, it goes by itself then. */
const FLOOD = 60;
/** Milliseconds between two who come. */
const COME_MS = 400;

const programs = [
  'while sleep 0.$((RANDOM % 9 + 1)); do ls -l /usr/bin | head -$((RANDOM % 200)); done',
  'while sleep 1; do date; done',
  'while sleep 0.2; do head -c $((RANDOM)) /dev/urandom | base64; done',
];
const spin =
  "local from = redis.call('TIME'); repeat local now = redis.call('TIME') until (now[1] - from[1]) * 1e6 + now[2] - from[2] > 350000";

/** People who come, see the session from its first frame, and go. Returns the way to stop. */
function crowd(gateways: Gateways, ids: readonly string[]): () => void {
  const present: Onlooker[] = [];
  let n = 0;
  const come = () => {
    if (present.length >= ONLOOKERS) present.shift()?.client.close();
    const url = gateways.urlOf(ids[n % ids.length] as string, gateways.at(n % 2));
    const role = n % 6 === 0 ? 'controller' : 'observer';
    present.push(new Onlooker({ url, role, token: tokenFor(`somebody ${n % 40}`, 'pty:control') }));
    n += 1;
  };
  const coming = setInterval(come, COME_MS);
  return () => {
    clearInterval(coming);
    for (const { client } of present) client.close();
  };
}

async function keepBusy(gateways: Gateways): Promise<void> {
  const until = performance.now() + BUSY * 1000;
  while (performance.now() < until) await gateways.redis.tell('EVAL', spin, '0').catch(() => {});
}

async function flood(gateways: Gateways, id: string): Promise<void> {
  const flooder = await plainClient(gateways.urlOf(id, gateways.at(0)), tokenFor('mallory', 'pty:observe'));
  const until = performance.now() + FLOOD * 1000;
  while (!flooder.closed && performance.now() < until) {
    for (let i = 0; i < 1000; i++) flooder.say('ping', { client_ts: 'now' });
    await sleep(100);
  }
  flooder.ws.terminate();
}

async function picture(svg: string): Promise<Uint8Array> {
  const fonts = createRequire(import.meta.url)
    .resolve('dejavu-fonts-ttf/package.json')
    .replace('package.json', 'ttf');
  const fontFiles = ['DejaVuSans.ttf', 'DejaVuSans-Bold.ttf'].map((file) => `${fonts}/${file}`);
  return new Resvg(svg, { font: { fontFiles, loadSystemFonts: false, defaultFontFamily: 'DejaVu Sans' } }).render().asPng();
}

const gateways = await startGateways({ env: { RATE_LIMIT_MAX: '100000', ATTACH_RATE_LIMIT_MAX: '100000' } });
const prometheus = await Prometheus.start(gateways.replicas.map(({ port }) => port));
let leave = () => {};
try {
  const from = Date.now() / 1000;
  const ids: string[] = [];
  for (let i = 0; i < SESSIONS; i++) {
    ids.push(await gateways.begin(gateways.at(i % 2), '/bin/bash', '-c', programs[i % programs.length] as string));
  }
  leave = crowd(gateways, ids);
  await sleep(WELL * 1000);
  await keepBusy(gateways);
  await flood(gateways, ids[0] as string);
  await sleep(AFTER * 1000);
  const to = Date.now() / 1000;
  const firing = await prometheus.firing();
  console.log('alerts that fire at the end:', firing.join(', ') || 'none');
  const dashboard = JSON.parse(readFileSync('helm/dashboards/pty-gateway.json', 'utf8')) as Dashboard;
  const foot = [
    'Drawn by bench/dashboard.ts, not by Grafana, from what Prometheus answered to each panel; alerts fire at once here.',
    `Two replicas on one Redis and a machine busy with other work, ${SESSIONS} sessions, up to ${ONLOOKERS} attachments; Redis kept busy by somebody else for ${BUSY} s, then a client that floods.`,
  ];
  const svg = await draw(dashboard, (expr) => prometheus.range(expr, from, to), foot);
  writeFileSync('docs/dashboard.png', await picture(svg));
} finally {
  leave();
  await prometheus.dispose();
  await gateways.dispose();
}
