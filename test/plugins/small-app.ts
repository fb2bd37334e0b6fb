// A gateway with a frame and no sessions: real plugins around one guarded route. Knows no log and no terminal.
import Fastify, { type FastifyInstance } from 'fastify';
import audit from '../../plugins/audit.js';
import auth, { authorize, checkOrigin, principalOf } from '../../plugins/auth.js';
import context from '../../plugins/context.js';
import errors from '../../plugins/errors.js';
import rateLimit from '../../plugins/rate-limit.js';
import security from '../../plugins/security.js';
import type { Scope } from '../../src/access/principal.js';
import type { Agent } from '../../src/agents/agents.js';
import type { AuditLine } from '../../src/audit/audit.js';
import { readConfig } from '../../src/config.js';

export const SECRET = 'a secret of the tests, long enough for HS256';

/** Those that exist. */
const instances = ['a', 'b', 'inst-a'];

export interface SmallApp {
  readonly app: FastifyInstance;
  readonly base: string;
  readonly lines: AuditLine[];
  get(path: string, token?: string, headers?: Record<string, string>): Promise<Response>;
  close(): Promise<void>;
}

/** Listens on a free port. `/agents/:inst/sessions/:id` answers with the principal of a token that has `scope`. */
export async function smallApp(env: NodeJS.ProcessEnv = {}, scope: Scope = 'pty:control'): Promise<SmallApp> {
  const config = readConfig({ PORT: '0', LOG_LEVEL: 'silent', AUTH_JWT_SECRET: SECRET, ...env });
  const app = Fastify();
  const lines: AuditLine[] = [];
  await app.register(errors);
  await app.register(context, {
    config,
    agents: { get: (id) => (instances.includes(id) ? ({ id } as Agent) : undefined), list: () => [] },
  });
  await app.register(security);
  await app.register(audit, { audit: { record: (line) => void lines.push(line), close: async () => {} } });
  await app.register(auth);
  await app.register(rateLimit);
  app.get('/agents/:inst/sessions/:id', { onRequest: authorize(scope, 'screen_read') }, async (request) => principalOf(request));
  app.get('/origin', { onRequest: checkOrigin }, async () => ({}));
  app.get('/probe', { config: { unlimited: true } }, async () => ({}));
  const base = await app.listen({ port: 0, host: '127.0.0.1' });
  return {
    app,
    base,
    lines,
    get: (path, token, headers = {}) =>
      fetch(base + path, { headers: { ...(token !== undefined && { authorization: `Bearer ${token}` }), ...headers } }),
    close: () => app.close(),
  };
}
