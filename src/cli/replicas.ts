// `pty-gateway replicas`, `drain` and `log-level`: what an operator does with gateways while they run. Knows HTTP answers, no replica.
import { setTimeout as pause } from 'node:timers/promises';
import { Argument, type Command } from 'commander';
import { type LogLevel, logLevels } from '../logging/log-level.js';
import type { ReplicaStatus } from '../session/replicas/orders.js';
import { age } from './age.js';
import { CommandError, done } from './failure.js';
import { type Gateway, type GatewayOptions, gatewayOf, withGateway } from './gateway.js';
import { askJson, Refused, Unreachable } from './http.js';
import { table } from './table.js';
import { watch } from './watch.js';

/** Between two looks at a replica that drains, in milliseconds. */
const LOOK_MS = 1000;
/** How long a gateway that cannot be reached any more is asked, before it is given up, in milliseconds. */
const SILENCE_MS = 30_000;

interface Options extends GatewayOptions {
  readonly json?: true;
  readonly watch?: true;
  readonly wait?: true;
}

/** A silent one tells no more than its id, and why. */
type Replica = Pick<ReplicaStatus, 'replica_id'> &
  Partial<Omit<ReplicaStatus, 'state'>> & { readonly state: string; readonly reason?: string };

interface Listed {
  readonly replicas: readonly Replica[];
  readonly answered_by: string;
}

/** Registers the command. */
export function replicas(program: Command): void {
  withGateway(program.command('replicas').description('list the replicas of a gateway (needs a token with pty:admin)'))
    .option('--json', 'as a JSON array')
    .option('--watch', 'again and again, until it is interrupted')
    .action((options: Options) =>
      done(async () => {
        const gateway = gatewayOf(options);
        const look = async () => shown((await list(gateway)).replicas, options);
        if (options.watch) await watch(look, process.stdout.isTTY && !options.json);
        process.stdout.write(await look());
      }),
    );
}

/** Registers the command. */
export function drain(program: Command): void {
  withGateway(program.command('drain [replica]').description('end a replica in order, as SIGTERM does (needs a token with pty:admin)'))
    .option('--wait', 'until it has ended, telling what is left')
    .option('--json', 'what is left as JSON, a line each time')
    .addHelpText(
      'after',
      '\nIt takes no new sessions, sends its clients to the other replicas, hands on the sessions that can be, ends the rest when nobody is attached\n' +
        'or DRAIN_SECONDS have passed, and exits with 0. The exit code of this command is 0, or 1 for every failure.',
    )
    .action((replica: string | undefined, options: Options) => done(() => drainOne(gatewayOf(options), replica, options)));
}

/** Registers the command. */
export function logLevel(program: Command): void {
  withGateway(
    program
      .command('log-level')
      .description('change how much the replicas log, until they end (needs a token with pty:admin)')
      .addArgument(new Argument('<level>', 'from most to least').choices(logLevels))
      .argument('[replica]', 'this one alone; else all'),
  ).action((level: LogLevel, replica: string | undefined, options: Options) =>
    done(async () => {
      const gateway = gatewayOf(options);
      const ids = replica === undefined ? (await list(gateway)).replicas.map(({ replica_id }) => replica_id) : [replica];
      for (const id of ids) {
        await askJson(gateway, `${pathOf(id)}/log-level`, { method: 'PUT', body: { level } });
        process.stdout.write(`${id} logs at ${level}\n`);
      }
    }),
  );
}

const list = (gateway: Gateway) => askJson<Listed>(gateway, '/admin/replicas');
const pathOf = (id: string) => `/admin/replicas/${encodeURIComponent(id)}`;

function shown(found: readonly Replica[], { json, watch: again }: Options): string {
  if (json) return `${JSON.stringify(found, null, again ? 0 : 2)}\n`;
  const number = (value: number | undefined) => (value === undefined ? '-' : String(value));
  const rows = found.map((one) => [
    one.replica_id,
    one.reason ? `${one.state}: ${one.reason}` : one.state,
    one.version ?? '-',
    one.started_at === undefined ? '-' : age(one.started_at),
    number(one.sessions),
    number(one.members),
    number(one.connections),
    one.log_level ?? '-',
  ]);
  return table(['REPLICA', 'STATE', 'VERSION', 'AGE', 'SESSIONS', 'HERE', 'CONNECTIONS', 'LOGS'], rows, process.stdout.columns);
}

async function drainOne(gateway: Gateway, wanted: string | undefined, options: Options): Promise<void> {
  const { replicas: all, answered_by } = await list(gateway);
  const id = wanted ?? onlyOne(all);
  const status = await askJson<Replica>(gateway, `${pathOf(id)}/drain`, { method: 'POST' });
  tell(status, options);
  if (!options.wait) return;
  await ended(gateway, id, answered_by, options);
  process.stdout.write(options.json ? `${JSON.stringify({ replica_id: id, state: 'ended' })}\n` : `${id} has ended\n`);
}

function onlyOne(all: readonly Replica[]): string {
  const [first] = all;
  if (first && all.length === 1) return first.replica_id;
  throw new CommandError(`there are several replicas: name one of ${all.map(({ replica_id }) => replica_id).join(', ')}`);
}

function tell(status: Replica, { json }: Options): void {
  const { replica_id, sessions = 0, members = 0, seconds_left } = status;
  const left = seconds_left === undefined ? '' : `; what is left ends in ${seconds_left} s at the latest`;
  const sentence = `${replica_id} drains: ${count(sessions, 'session')}, ${count(members, 'member')}${left}`;
  process.stdout.write(`${json ? JSON.stringify(status) : sentence}\n`);
}

const count = (n: number, what: string) => `${n} ${what}${n === 1 ? '' : 's'}`;

/** It has ended when the others know of it no more, or, where it was asked itself, when nobody answers. */
async function ended(gateway: Gateway, id: string, answeredBy: string, options: Options): Promise<void> {
  let silentSince: number | undefined;
  for (;;) {
    await pause(LOOK_MS);
    try {
      tell(await askJson<Replica>(gateway, pathOf(id)), options);
      silentSince = undefined;
    } catch (error) {
      if (error instanceof Refused && error.status === 404) return;
      if (error instanceof Unreachable && answeredBy === id) return;
      silentSince ??= Date.now();
      const isPassing = error instanceof Unreachable || (error instanceof Refused && error.status >= 500);
      if (!isPassing || Date.now() - silentSince > SILENCE_MS) throw error;
    }
  }
}
