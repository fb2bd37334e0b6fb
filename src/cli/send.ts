// `pty-gateway send`: types into a session, and goes. Knows the options; who may type is the gateway's to say.
import { createReadStream } from 'node:fs';
import type { Command } from 'commander';
import type { TerminalClient } from '../client/node.js';
import { controlOf, holders } from './asking.js';
import { duration } from './duration.js';
import { CommandError, done, exits } from './failure.js';
import { FollowedScreen } from './followed-screen.js';
import { type GatewayOptions, withGateway } from './gateway.js';
import { join, live } from './joining.js';
import { bytesOf, checkKey } from './keys.js';
import { HOW_TO_NAME, namedSession } from './named-session.js';
import { progress } from './progress.js';

/** Seconds in which control is given that nobody has. */
const ASK_SECONDS = 10;

interface SendOptions extends GatewayOptions {
  readonly file?: string;
  readonly key?: string[];
  readonly wait?: number;
  readonly json?: true;
}

/** Registers the command. */
export function send(program: Command): void {
  withGateway(program.command('send').description('type into a session, and print the number of the last frame before it'))
    .argument('<session>', HOW_TO_NAME)
    .argument('[text]', 'what is typed, as it is: no Enter follows unless --key says so')
    .option('-f, --file <file>', 'type what is in it after the text; - is the standard input')
    .option(
      '-k, --key <key>',
      'press it after the text and the file: Enter, Up, F1, ctrl-c or C-c, alt-x or M-x …; may be given again',
      key,
    )
    .option('--wait <duration>', 'while somebody else has control, ask for it, and wait so long, as 30s or 5m', duration)
    .option('--json', 'print `{session_id, sequence}`')
    .addHelpText(
      'after',
      `\nWhat it prints is what \`wait-for --since\` takes. The exit code is 0, ${exits.busy} if somebody else has control, ${exits.timeout} if they still have it after\n--wait, 1 for every other failure.`,
    )
    .action((session: string, text: string | undefined, options: SendOptions) => done(() => run(session, text, options)));
}

function key(name: string, before: string[] = []): string[] {
  return [...before, checkKey(name)];
}

async function run(name: string, text: string | undefined, { file, key: keys = [], wait, json, ...options }: SendOptions): Promise<void> {
  if (text === undefined && file === undefined && keys.length === 0)
    throw new CommandError('there is nothing to type: give a text, --file or --key', { code: 'USAGE' });
  const session = await namedSession(name, options);
  const client = join(session, { role: 'controller', reconnect: false, presence: true });
  const screen = new FollowedScreen(client);
  try {
    await live(client);
    await control(client, wait);
    const sequence = client.position ?? 0;
    await typeAll(client, piecesOf(text, file, keys, screen));
    if (client.state.name === 'live') await client.leave();
    process.stdout.write(json ? `${JSON.stringify({ session_id: session.id, sequence })}\n` : `${sequence}\n`);
  } finally {
    client.close();
  }
}

/** The keys are looked up last: what was typed before may change what they send. */
async function* piecesOf(text: string | undefined, file: string | undefined, keys: readonly string[], screen: FollowedScreen) {
  if (text) yield Buffer.from(text);
  if (file !== undefined) yield* contentOf(file);
  for (const key of keys) yield Buffer.from(bytesOf(key, screen) ?? '');
}

async function* contentOf(file: string): AsyncGenerator<Buffer> {
  try {
    yield* file === '-' ? process.stdin : createReadStream(file);
  } catch (error) {
    throw new CommandError(`--file ${file} cannot be read: ${(error as Error).message}`);
  }
}

/** No faster than the gateway reads it. Rejects with a CommandError for what may not have arrived. */
async function typeAll(client: TerminalClient, pieces: AsyncIterable<Buffer>): Promise<void> {
  let bytes = 0;
  const stop = progress(() => `typing; ${bytes} bytes so far`);
  try {
    for await (const piece of pieces) {
      await client.type(piece).catch(({ message }: Error) => {
        // The program may well end by what is typed.
        if (!client.closed) throw new CommandError(`not all was typed, ${bytes} bytes for certain: ${message}`);
      });
      if (client.closed) return;
      bytes += piece.length;
    }
  } finally {
    stop();
  }
}

/** Resolves when this client has control; if somebody else has it, after waiting so many seconds for it. */
async function control(client: TerminalClient, seconds: number | undefined): Promise<void> {
  if (client.role === 'controller') return;
  const who = holders(client);
  if (who !== '' && seconds === undefined)
    throw new CommandError(`${who} has control; --wait 30s waits until it is given back`, { code: 'BUSY', exitCode: exits.busy });
  await given(client, who || 'nobody', seconds ?? ASK_SECONDS);
}

/** Waits on after a no: control may become free. */
async function given(client: TerminalClient, who: string, seconds: number): Promise<void> {
  let answer = '';
  let timer: ReturnType<typeof setTimeout> | undefined;
  const stop = progress((passed) => `${who} has control${answer}; waiting for ${passed} s`);
  const late = new Promise<never>((_, reject) => {
    const words = () => (answer ? `${who} declined, and had control for ${seconds} s` : `somebody else had control for ${seconds} s`);
    timer = setTimeout(() => reject(new CommandError(words(), { code: 'TIMEOUT', exitCode: exits.timeout })), seconds * 1000);
  });
  const declined = () => {
    answer = ' and declined to give it';
  };
  await Promise.race([controlOf(client, { declined }), late]).finally(() => {
    clearTimeout(timer);
    stop();
  });
}
