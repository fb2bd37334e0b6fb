// `pty-gateway wait-for`: until a session prints or shows something. Knows the options; looking is `sought.ts`.
import { type Command, Option } from 'commander';
import type { TerminalClient } from '../client/node.js';
import { frameNumber } from './attach.js';
import { duration } from './duration.js';
import { CommandError, done, exits, usageExits } from './failure.js';
import { FollowedScreen } from './followed-screen.js';
import { type GatewayOptions, withGateway } from './gateway.js';
import { askJson } from './http.js';
import { endOf, join, live } from './joining.js';
import type { ListedSession } from './listing.js';
import { HOW_TO_NAME, type NamedSession, namedSession } from './named-session.js';
import { progress } from './progress.js';
import { type Found, foundIn, OutputSearch, type Pattern, pattern } from './sought.js';
import { harmless } from './table.js';

/** A screen that changes often is looked at so often, in milliseconds. */
const LOOK_MS = 20;

interface WaitOptions extends GatewayOptions {
  readonly timeout?: number;
  readonly screen?: true;
  readonly since?: number;
  readonly json?: true;
}

/** Registers the command. */
export function waitFor(program: Command): void {
  withGateway(usageExits(program.command('wait-for'), exits.failedElse).description('wait until a session prints or shows something'))
    .argument('<session>', HOW_TO_NAME)
    .argument('<pattern>', "what a line must have in it, in RE2's syntax", pattern)
    .option('--output', 'look at the lines that are printed, from the first that is kept on (the default)')
    .addOption(new Option('--screen', 'look at the rows that are shown').conflicts(['output', 'since']))
    .option('--since <number>', 'of what is printed, only after this frame, as `send` tells it', frameNumber)
    .option('--timeout <duration>', 'give up after so long, as 90s or 10m', duration)
    .option('--json', 'print `{match, line, sequence}`')
    .addHelpText(
      'after',
      `\nIt prints the number of the frame, the match and its line, with tabs between. The exit code is 0 when it is found, 1 if the session ends
without it, ${exits.timeout} after --timeout, ${exits.failedElse} for every failure.`,
    )
    .action((name: string, wanted: Pattern, options: WaitOptions) => done(() => run(name, wanted, options), exits.failedElse));
}

async function run(name: string, wanted: Pattern, { timeout, screen, since, json, ...options }: WaitOptions): Promise<void> {
  const session = await namedSession(name, options);
  const replayFrom = screen ? undefined : (since ?? (await oldest(session)) - 1);
  const client = join(session, { role: 'observer', ...(replayFrom !== undefined && { replayFrom }) });
  const stop = progress((seconds) => `waiting for ${harmless(wanted.pattern())}; ${seconds} s`);
  try {
    const found = await first(client, screen ? onScreen(client, wanted) : inOutput(client, wanted), timeout);
    process.stdout.write(json ? `${JSON.stringify(found)}\n` : `${found.sequence}\t${found.match}\t${found.line}\n`);
  } finally {
    stop();
    client.close();
  }
}

async function oldest({ gateway, path }: NamedSession): Promise<number> {
  return (await askJson<ListedSession>(gateway, path)).oldest_sequence;
}

/** Rejects with a CommandError when the session ends first, the time is over, or the gateway is lost. */
async function first(client: TerminalClient, looked: Promise<Found>, seconds: number | undefined): Promise<Found> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    const why = new CommandError(`it was not there within ${seconds} s`, { code: 'TIMEOUT', exitCode: exits.timeout });
    if (seconds !== undefined) timer = setTimeout(() => reject(why), seconds * 1000);
  });
  try {
    return await Promise.race([looked, over(client), late]);
  } finally {
    clearTimeout(timer);
  }
}

async function over(client: TerminalClient): Promise<never> {
  void live(client).then(
    () => giveBack(client),
    () => {},
  );
  const ended = await client.ended;
  if (ended.reason !== 'session_closed') throw endOf(ended);
  throw new CommandError('the session has ended without it', { code: 'ENDED', exitCode: exits.failed });
}

/** Who is the first ever to attach gets control unasked (pty-ext §5.1); who only looks has no use for it. */
function giveBack(client: TerminalClient): void {
  if (client.role === 'controller') client.requestRole('observer').catch(() => {});
}

function inOutput(client: TerminalClient, wanted: Pattern): Promise<Found> {
  const search = new OutputSearch(wanted);
  return new Promise((resolve) => {
    client.on('notice', ({ after }) => {
      search.gap();
      process.stderr.write(`pty-gateway: what was printed after frame ${after ?? 0} is not kept any more, up to what comes now\n`);
    });
    client.on('output', (bytes, sequence) => {
      const found = search.take(bytes, sequence);
      if (found) resolve(found);
    });
  });
}

/** Looked at a moment after each change, and at the end. */
function onScreen(client: TerminalClient, wanted: Pattern): Promise<Found> {
  return new Promise((resolve) => {
    let willLook = false;
    const look = (sequence: number) => {
      willLook = false;
      const found = foundIn(screen.lines, wanted, sequence);
      if (found) resolve(found);
    };
    const screen = new FollowedScreen(client, (sequence) => {
      if (!willLook) setTimeout(() => look(sequence), LOOK_MS);
      willLook = true;
    });
    client.on('closed', () => look(client.position ?? 0));
  });
}
