// What every other plugin may ask the app for: its config, its agents, where clients find it, whether it takes work, and what to count with. Knows no route.
import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import { openSecrets, type Secrets } from '../src/access/secrets.js';
import type { Agents } from '../src/agents/agents.js';
import { type Config, localUrl, type PublicUrl } from '../src/config.js';
import { Seldom } from '../src/logging/seldom.js';
import { Metrics } from '../src/metrics/metrics.js';
import { Reloads } from '../src/reload.js';

/** How often the same failure is told of at most, in milliseconds. */
const TOLD_AGAIN_MS = 60_000;

/** What the gateway is doing: it takes work only while `ready`. */
export interface Lifecycle {
  state: 'starting' | 'ready' | 'draining';
  /** While it drains: when what still runs is ended at the latest, in milliseconds since the epoch. */
  endsAt?: number;
  /** Ends the process in order, as SIGTERM does. Absent where the app is no process of its own. */
  end?: () => void;
}

declare module 'fastify' {
  interface FastifyInstance {
    readonly config: Config;
    readonly agents: Agents;
    /** What tokens are made with, and checked with where they are HS256 and its like. */
    readonly secrets: Secrets;
    readonly lifecycle: Lifecycle;
    /** What SIGHUP has read again. */
    readonly reloads: Reloads;
    /** What all of them count with. */
    readonly metrics: Metrics;
    /** For what fails many for the same cause: the log is to tell of it, and not of nothing else. */
    readonly seldom: Seldom;
    /** PUBLIC_URL, or else the address that is listened on. */
    publicUrl(): PublicUrl;
  }
}

function whereItListens(app: FastifyInstance): PublicUrl {
  const address = app.server.address();
  const port = typeof address === 'object' && address !== null ? address.port : app.config.listen.port;
  return localUrl(app.config.listen.host, port, app.config.tls ? 'https' : 'http');
}

export default fp<{ config: Config; agents: Agents }>(
  async (app, { config, agents }) => {
    app.decorate('config', config);
    app.decorate('agents', agents);
    app.decorate('metrics', new Metrics());
    app.decorate('seldom', new Seldom(TOLD_AGAIN_MS));
    app.addHook('onClose', async () => app.seldom.close());
    app.decorate('reloads', new Reloads());
    const secrets = openSecrets(config.auth);
    app.decorate('secrets', secrets);
    if (secrets.reread) app.reloads.add('AUTH_JWT_SECRET_FILE', secrets.reread, [config.auth.secretFile]);
    app.decorate('lifecycle', { state: 'starting' } as Lifecycle);
    app.decorate('publicUrl', () => config.publicUrl ?? whereItListens(app));
  },
  { name: 'context' },
);
