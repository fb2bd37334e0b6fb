// `pty-gateway share`: links with which one session can be watched. Knows HTTP answers (…/:id/shares), no token.
import { type Command, InvalidArgumentError, Option } from 'commander';
import { MAX_TTL_SECONDS, MIN_TTL_SECONDS, type Share } from '../shares/share.js';
import { age } from './age.js';
import { duration } from './duration.js';
import { done } from './failure.js';
import { type GatewayOptions, withGateway } from './gateway.js';
import { askJson } from './http.js';
import { HOW_TO_NAME, type NamedSession, namedSession } from './named-session.js';
import { table } from './table.js';

interface ShareOptions extends GatewayOptions {
  readonly ttl?: number;
  readonly label?: string;
  readonly list?: true;
  readonly revoke?: string;
  readonly json?: true;
}

/** Registers the command. */
export function share(program: Command): void {
  withGateway(program.command('share').description('make a link with which a session can be watched, and print it'))
    .argument('<session>', HOW_TO_NAME)
    .option('--ttl <duration>', 'how long it is good, as 90s, 1h or 7d, a minute to a week (default: 1h)', ttl)
    .option('--label <text>', 'whom or what it is for')
    .addOption(new Option('--list', 'list those that are good').conflicts(['ttl', 'label', 'revoke']))
    .addOption(new Option('--revoke <id>', 'end one, and send those away who watch with it').conflicts(['ttl', 'label']))
    .option('--json', 'print the link, or the list, as JSON')
    .addHelpText('after', '\nWhoever has the link can watch, and do nothing else. The exit code is 0, or 1 for every failure.')
    .action((name: string, options: ShareOptions) => done(() => run(name, options)));
}

/** Seconds. Throws InvalidArgumentError for more or less than a link may be good. */
function ttl(text: string): number {
  const seconds = duration(text);
  if (seconds < MIN_TTL_SECONDS || seconds > MAX_TTL_SECONDS)
    throw new InvalidArgumentError('a link is good for a minute to a week, as 1m or 7d');
  return seconds;
}

async function run(name: string, { ttl, label, list, revoke, json, ...options }: ShareOptions): Promise<void> {
  const session = await namedSession(name, options);
  if (list) process.stdout.write(await listed(session, json));
  else if (revoke !== undefined) process.stdout.write(await revoked(session, revoke, json));
  else
    process.stdout.write(
      await made(session, { ...(ttl !== undefined && { ttl_seconds: ttl }), ...(label !== undefined && { label }) }, json),
    );
}

async function made({ gateway, path }: NamedSession, body: object, json?: true): Promise<string> {
  const link = await askJson<Share & { readonly url: string }>(gateway, `${path}/shares`, { method: 'POST', body });
  return json ? `${JSON.stringify(link, null, 2)}\n` : `${link.url}\n`;
}

async function listed({ gateway, path }: NamedSession, json?: true): Promise<string> {
  const { shares } = await askJson<{ shares: Share[] }>(gateway, `${path}/shares`);
  if (json) return `${JSON.stringify(shares, null, 2)}\n`;
  if (shares.length === 0) return 'There are no links to this session.\n';
  const rows = shares.map((each) => [each.share_id, age(each.created_at), each.expires_at, each.created_by, each.label ?? '']);
  return table(['LINK', 'AGE', 'GOOD UNTIL', 'MADE BY', 'LABEL'], rows, process.stdout.columns);
}

async function revoked({ gateway, path }: NamedSession, id: string, json?: true): Promise<string> {
  await askJson(gateway, `${path}/shares/${encodeURIComponent(id)}`, { method: 'DELETE' });
  return json ? `${JSON.stringify({ share_id: id, revoked: true })}\n` : `${id} is revoked\n`;
}
