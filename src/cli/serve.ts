// `pty-gateway serve`: from the environment to a gateway that listens. Knows no route.
import { randomBytes } from 'node:crypto';
import type { Command } from 'commander';
import type { FastifyInstance } from 'fastify';
import { CertificateRulesError } from '../access/certificates/rules.js';
import { mintToken } from '../access/token.js';
import { type AgentsFile, AgentsFileError, openAgentsFile } from '../agents/agents-file.js';
import { buildApp, listen } from '../app.js';
import { AuditFileError } from '../audit/chain.js';
import { type Config, ConfigError, EXIT_CONFIG, hasKey, isLoopback, readConfig } from '../config.js';
import { letHeapDouble } from '../heap.js';
import { endOnSignals, endWhenUsurped } from '../shutdown.js';
import { version } from '../version.js';
import { demandUsable, listenFault } from './preflight.js';

/** Seconds for which the token of a development start is good. */
const DEVELOPMENT_TTL_SECONDS = 12 * 3600;
/** How often it is looked whether keys and certificates have changed, in milliseconds. */
const LOOK_MS = 10_000;

/** Registers the command. */
export function serve(program: Command): void {
  program
    .command('serve')
    .description('serve terminals over HTTP and WebSocket; configured by environment variables')
    .action(async () => {
      try {
        await start(process.env);
      } catch (error) {
        fail(error);
      }
    });
}

async function start(env: NodeJS.ProcessEnv): Promise<void> {
  letHeapDouble();
  const { config, development } = withKey(readConfig(env));
  const agents = openAgentsFile(config.agentsFile);
  await demandUsable(config);
  const app = await buildApp(config, { agents });
  app.lifecycle.end = endOnSignals(app);
  endWhenUsurped(app);
  rereadOnHangUp(app, agents);
  await listen(app).catch((error) => {
    throw listenFault(error, config.listen);
  });
  tellStart(app);
  if (development) invite(app);
}

/** What an operator asks of a log first: which version it is, and what it was told to be. */
function tellStart({ log, config, agents, tracing }: FastifyInstance): void {
  log.info(
    {
      version: version(),
      node: process.version,
      log: config.redis ? 'redis' : 'embedded',
      sealing_keys: config.encryptionKeys.map(({ kid }) => kid),
      traces: tracing !== undefined,
      agents: agents.list().map(({ id }) => id),
    },
    'the gateway is ready',
  );
}

/** Without a key, one is made for this start alone, where only this machine can reach the gateway. */
function withKey(config: Config): { config: Config; development: boolean } {
  if (hasKey(config)) return { config, development: false };
  if (!isLoopback(config.listen.host)) {
    throw new ConfigError(
      `HOST is "${config.listen.host}" and no key is set; expected AUTH_JWT_SECRET, AUTH_JWT_SECRET_FILE, AUTH_JWT_PUBLIC_KEY, AUTH_JWKS_URL or CLIENT_CERT_MAP_FILE, or a loopback HOST`,
    );
  }
  return { config: { ...config, auth: { ...config.auth, secret: randomBytes(32).toString('base64url') } }, development: true };
}

function invite(app: FastifyInstance): void {
  const { secret, issuer, audience } = app.config.auth;
  const sub = process.env.USER || 'developer';
  const token = mintToken(secret ?? '', { sub, scope: 'pty:admin', ttlSeconds: DEVELOPMENT_TTL_SECONDS, issuer, audience });
  const [first] = app.agents.list();
  process.stdout.write(
    `\nOpen ${app.publicUrl().http}/#token=${token}${first ? `&open=${first.id}` : ''}\n` +
      'This is for development: the key was made for this start alone, and whoever has the URL has a shell on this machine.\n\n',
  );
}

function rereadOnHangUp(app: FastifyInstance, agents: AgentsFile): void {
  app.reloads.add('AGENTS_FILE', () => {
    agents.reload();
    return agents
      .list()
      .map(({ id }) => id)
      .join(', ');
  });
  process.on('SIGHUP', () => void app.reloads.run(app.log));
  setInterval(() => void app.reloads.look(app.log), LOOK_MS).unref();
}

/** One line on stderr; 78 for what the operator has to change. */
function fail(error: unknown): never {
  const name = variableOf(error);
  process.stderr.write(`pty-gateway: ${name ? `${name}: ` : ''}${(error as Error).message}\n`);
  process.exit(name !== undefined || error instanceof ConfigError ? EXIT_CONFIG : 1);
}

/** The variable that names a file which is at fault. */
function variableOf(error: unknown): string | undefined {
  if (error instanceof AgentsFileError) return 'AGENTS_FILE';
  if (error instanceof CertificateRulesError) return 'CLIENT_CERT_MAP_FILE';
  return error instanceof AuditFileError ? 'AUDIT_FILE' : undefined;
}
