// `pty-gateway sessions`: what runs at a gateway, and where to attach. Knows HTTP answers, no session.
import { type Command, Option } from 'commander';
import type { MemberRef } from '../protocol/frames.js';
import { CommandError } from './address.js';
import { age } from './age.js';
import { done, type Gateway, type GatewayOptions, gatewayOf, withGateway } from './gateway.js';
import { askJson, Refused } from './http.js';
import { table } from './table.js';
import { watch } from './watch.js';

interface SessionsOptions extends GatewayOptions {
  readonly instance?: string;
  readonly state?: string;
  readonly all?: true;
  readonly json?: true;
  readonly watch?: true;
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
  withGateway(program.command('sessions').description('list the sessions that run at a gateway'))
    .option('--instance <id>', 'of this agent alone')
    .addOption(new Option('--state <state>', 'in this state alone (default: running)').choices(['running', 'closed']).conflicts('all'))
    .option('--all', 'those that have ended too')
    .option('--json', 'the sessions as a JSON array')
    .option('--watch', 'again and again, until it is interrupted')
    .addHelpText('after', '\nThe exit code is 0, or 1 for every failure.')
    .action((options: SessionsOptions) =>
      done(async () => {
        const look = async () => {
          const found = await list(options);
          return options.json
            ? `${JSON.stringify(found, null, options.watch ? 0 : 2)}
`
            : shown(found, options);
        };
        if (options.watch) await watch(look);
        process.stdout.write(await look());
      }),
    );
}

async function list({ instance, all, state = all ? undefined : 'running', ...options }: SessionsOptions): Promise<ListedSession[]> {
  const gateway = gatewayOf(options);
  const instances = instance === undefined ? await agents(gateway) : [instance];
  const found: ListedSession[] = [];
  for (const each of instances) for await (const session of sessionsOf(gateway, each, state)) found.push(session);
  return found;
}

interface Card {
  readonly supportedInterfaces: ReadonlyArray<{ readonly url: string }>;
}

/** An agent's id stands in the addresses of its card. */
async function agents(gateway: Gateway): Promise<string[]> {
  const { agents: cards } = await askJson<{ agents: Card[] }>(gateway, '/agents');
  const ids = cards.map(({ supportedInterfaces: [first] }) => /\/agents\/([^/]+)\//.exec(first?.url ?? '')?.[1]);
  return ids.filter((id) => id !== undefined).map(decodeURIComponent);
}

/** Of a session by its id, whichever agent's it is. Throws a CommandError. */
export async function addressOf(gateway: Gateway, sessionId: string): Promise<string> {
  for (const instance of await agents(gateway)) {
    const path = `/agents/${encodeURIComponent(instance)}/sessions/${sessionId}`;
    try {
      await askJson(gateway, path);
      return gateway.base + path;
    } catch (error) {
      if (!(error instanceof Refused && error.status === 404)) throw error;
    }
  }
  throw new CommandError(
    `there is no session ${sessionId} that this token may see; \`pty-gateway sessions --all\` lists those that there are`,
  );
}

async function* sessionsOf(gateway: Gateway, instanceId: string, state: string | undefined): AsyncGenerator<ListedSession> {
  let after: string | null | undefined;
  do {
    const query = new URLSearchParams({ ...(state && { state }), ...(after && { page_token: after }) });
    const page = await askJson<{ sessions: ListedSession[]; next_page_token?: string | null }>(
      gateway,
      `/agents/${encodeURIComponent(instanceId)}/sessions?${query}`,
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
