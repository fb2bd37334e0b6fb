// `pty-gateway sessions`: what runs at a gateway, and what it is called there. Knows HTTP answers, no session.
import { type Command, Option } from 'commander';
import type { MemberRef } from '../protocol/frames.js';
import { age } from './age.js';
import { done } from './failure.js';
import { type GatewayOptions, gatewayOf, withGateway } from './gateway.js';
import { type ListedSession, sessionsAt } from './listing.js';
import { fits, table } from './table.js';
import { watch } from './watch.js';

/** Characters of an id that are shown where there is no room for all of it: a session that begins in another millisecond has others. */
const SHORT_ID = 13;
/** Of a UUID. */
const MAX_ID = 36;
const HEADER = ['SESSION', 'AGENT', 'STATE', 'SIZE', 'AGE', 'HERE', 'LABEL'];
/** Who is here, and the label. */
const GIVING_WAY = [5, 6];

interface SessionsOptions extends GatewayOptions {
  readonly instance?: string;
  readonly state?: string;
  readonly all?: true;
  readonly json?: true;
  readonly watch?: true;
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
          return options.json ? `${JSON.stringify(found, null, options.watch ? 0 : 2)}\n` : shown(found, options);
        };
        if (options.watch) await watch(look, process.stdout.isTTY && !options.json);
        process.stdout.write(await look());
      }),
    );
}

async function list({ instance, all, state = all ? undefined : 'running', ...options }: SessionsOptions): Promise<ListedSession[]> {
  return sessionsAt(gatewayOf(options), { instance, state });
}

function shown(found: readonly ListedSession[], { state, all }: SessionsOptions): string {
  if (found.length === 0 && state === undefined && !all)
    return 'No session runs that this token may see; --all lists those that have ended too.\n';
  if (found.length === 0) return 'There are no sessions that this token may see.\n';
  const { columns } = process.stdout;
  const whole = table(HEADER, rowsOf(found));
  return fits(whole, columns) ? whole : table(HEADER, rowsOf(found, shortest(found)), columns, GIVING_WAY);
}

function rowsOf(found: readonly ListedSession[], idChars?: number): string[][] {
  return found.map((session) => [
    session.session_id.slice(0, idChars),
    session.instance_id,
    session.sensitive ? `${stateOf(session)}, sensitive` : stateOf(session),
    `${session.cols}×${session.rows}`,
    age(session.created_at),
    people(session),
    session.label ?? session.title ?? '',
  ]);
}

/** As many characters as tell these ids apart. */
function shortest(found: readonly ListedSession[]): number {
  const distinct = (chars: number) => new Set(found.map(({ session_id }) => session_id.slice(0, chars))).size === found.length;
  let chars = SHORT_ID;
  while (!distinct(chars) && chars < MAX_ID) chars++;
  return chars;
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
