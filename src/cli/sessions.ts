// `pty-gateway sessions`: what runs at a gateway, and where to attach. Knows HTTP answers, no session.
import { type Command, Option } from 'commander';
import type { MemberRef } from '../protocol/frames.js';
import { CommandError, defaultGateway, gatewayAddress, tokenFrom } from './address.js';
import { getJson } from './http.js';
import { table } from './table.js';

interface SessionsOptions {
  readonly url?: string;
  readonly token?: string;
  readonly instance?: string;
  readonly state?: string;
  readonly all?: true;
  readonly json?: true;
}

/** What is shown of a session (contract, Sessions over HTTP). */
interface ListedSession {
  readonly session_id: string;
  readonly instance_id: string;
  readonly state: string;
  readonly created_at: string;
  readonly exit_code?: number | null;
  readonly reason?: string;
  readonly cols: number;
  readonly rows: number;
  readonly title?: string;
  readonly label?: string;
  readonly sensitive?: true;
  readonly controllers: readonly MemberRef[];
  readonly observers: readonly MemberRef[];
  readonly pty_ws_url: string;
}

/** Registers the command. */
export function sessions(program: Command): void {
  program
    .command('sessions')
    .description('list the sessions that run at a gateway')
    .option('--url <url>', 'where the gateway is (default: PTY_GATEWAY_URL, else PUBLIC_URL, else HOST and PORT, as `serve` takes them)')
    .addOption(new Option('--token <token>', 'who you are; in the environment it is seen by fewer').env('PTY_GATEWAY_TOKEN'))
    .option('--instance <id>', 'of this agent alone')
    .addOption(new Option('--state <state>', 'in this state alone (default: running)').choices(['running', 'closed']).conflicts('all'))
    .option('--all', 'those that have ended too')
    .option('--json', 'the sessions as a JSON array')
    .addHelpText('after', '\nThe exit code is 0, or 1 for every failure.')
    .action(async (options: SessionsOptions) => {
      process.exitCode = await run(options);
    });
}

async function run(options: SessionsOptions): Promise<number> {
  try {
    const found = await list(options);
    process.stdout.write(options.json ? `${JSON.stringify(found, null, 2)}\n` : shown(found, options));
    return 0;
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    process.stderr.write(`pty-gateway: ${error.message}\n`);
    return 1;
  }
}

async function list({ url, token: given, instance, all, state = all ? undefined : 'running' }: SessionsOptions): Promise<ListedSession[]> {
  const address = gatewayAddress(url ?? defaultGateway(process.env));
  const token = tokenFrom(given, address);
  const instances = instance === undefined ? await agents(address.base, token) : [instance];
  const found: ListedSession[] = [];
  for (const each of instances) for await (const session of sessionsOf(address.base, each, state, token)) found.push(session);
  return found;
}

interface Card {
  readonly supportedInterfaces: ReadonlyArray<{ readonly url: string }>;
}

/** An agent's id stands in the addresses of its card. */
async function agents(base: string, token: string): Promise<string[]> {
  const { agents: cards } = await getJson<{ agents: Card[] }>(base, '/agents', token);
  const ids = cards.map(({ supportedInterfaces: [first] }) => /\/agents\/([^/]+)\//.exec(first?.url ?? '')?.[1]);
  return ids.filter((id) => id !== undefined).map(decodeURIComponent);
}

async function* sessionsOf(base: string, instanceId: string, state: string | undefined, token: string): AsyncGenerator<ListedSession> {
  let after: string | null | undefined;
  do {
    const query = new URLSearchParams({ ...(state && { state }), ...(after && { page_token: after }) });
    const page = await getJson<{ sessions: ListedSession[]; next_page_token?: string | null }>(
      base,
      `/agents/${encodeURIComponent(instanceId)}/sessions?${query}`,
      token,
    );
    yield* page.sessions;
    after = page.next_page_token;
  } while (after);
}

function shown(found: readonly ListedSession[], { state, all }: SessionsOptions): string {
  if (found.length === 0 && state === undefined && !all)
    return 'No session runs that this token may see; --all lists those that have ended too.\n';
  if (found.length === 0) return 'There are no sessions that this token may see.\n';
  const rows = found.map((session) => [
    session.instance_id,
    session.sensitive ? `${stateOf(session)}, sensitive` : stateOf(session),
    `${session.cols}×${session.rows}`,
    age(session.created_at),
    people(session),
    session.label ?? session.title ?? '',
    session.pty_ws_url,
  ]);
  return table(['AGENT', 'STATE', 'SIZE', 'AGE', 'HERE', 'LABEL', 'ATTACH TO'], rows, process.stdout.columns);
}

function stateOf({ state, exit_code, reason }: ListedSession): string {
  if (state !== 'closed') return state;
  return typeof exit_code === 'number' ? `exit ${exit_code}` : (reason ?? state);
}

/** `*` marks who has control. */
function people({ controllers, observers }: ListedSession): string {
  const name = ({ label, client_id }: MemberRef) => label || client_id.slice(-4);
  return [...controllers.map((each) => `*${name(each)}`), ...observers.map(name)].join(' ') || '-';
}

const units = [
  [86_400, 'd'],
  [3600, 'h'],
  [60, 'm'],
  [1, 's'],
] as const;

/** Since then, in the largest unit of which there is one. */
function age(since: string): string {
  const seconds = Math.max(0, Math.floor((Date.now() - Date.parse(since)) / 1000));
  const [length, unit] = units.find(([each]) => seconds >= each) ?? [1, 's'];
  return `${Math.floor(seconds / length)}${unit}`;
}
