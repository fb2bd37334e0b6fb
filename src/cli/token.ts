// `pty-gateway token`: mints a token from AUTH_JWT_SECRET (contract, Tokens). Knows no server.
import { type Command, Option } from 'commander';
import { type Scope, scopes } from '../access/principal.js';
import { openSecrets } from '../access/secrets.js';
import { mintToken } from '../access/token.js';
import { ConfigError, EXIT_CONFIG, readConfig } from '../config.js';
import { duration } from './duration.js';

interface TokenOptions {
  readonly scope?: Scope;
  readonly sub?: string;
  readonly ttl: number;
  readonly instance?: string[];
  readonly session?: string[];
}

/** Registers the command. */
export function token(program: Command): void {
  program
    .command('token')
    .description('make a token with AUTH_JWT_SECRET and print it')
    .addOption(new Option('--scope <scope>', 'what it is good for; each includes the ones before it').choices(scopes))
    .option('--sub <name>', 'whose token it is, in audit and presence; required, as is --scope')
    .option('--ttl <duration>', 'how long it is good: a number and s, m, h or d', duration, 3600)
    .option('--instance <id>', 'good for this agent alone; may be given again', collect)
    .option('--session <id>', 'good for this session alone, or for its own ("own"): those that --sub created; may be given again', collect)
    .action((options: TokenOptions, command: Command) => {
      // Asked for here, and not by the parser, which would name it before an option that is misspelt.
      const { scope, sub } = options;
      if (!scope || !sub) command.error(`error: required option '${scope ? '--sub <name>' : '--scope <scope>'}' not specified`);
      print({ ...options, scope, sub });
    });
}

function print({ scope, sub, ttl, instance, session }: TokenOptions & { readonly scope: Scope; readonly sub: string }): void {
  try {
    const { auth } = readConfig(process.env);
    const { issuer, audience } = auth;
    const secret = openSecrets(auth).first;
    if (!secret)
      throw new ConfigError(
        'neither AUTH_JWT_SECRET nor AUTH_JWT_SECRET_FILE is set; expected the secret that the gateway was started with',
      );
    const limits = { ...(instance && { instances: instance }), ...(session && { sessions: session }) };
    process.stdout.write(`${mintToken(secret, { sub, scope, ttlSeconds: ttl, issuer, audience, ...limits })}\n`);
  } catch (error) {
    process.stderr.write(`pty-gateway: ${(error as Error).message}\n`);
    process.exitCode = EXIT_CONFIG;
  }
}

function collect(value: string, before: string[] = []): string[] {
  return [...before, value];
}
