// `pty-gateway attach`: a session in this terminal. Knows the options; what they lead to is an Attachment.
import { hostname, userInfo } from 'node:os';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { connect, type Size } from '../client/node.js';
import type { Role } from '../protocol/frames.js';
import { CommandError, sessionAddress, tokenFrom } from './address.js';
import { Attachment, EXIT_FAILURE } from './attachment.js';
import { type DetachKeys, parseDetachKeys } from './detach-keys.js';

/** Longest label, in characters (pty-ext §6.1). */
const MAX_LABEL_CHARS = 128;
const DETACH_KEYS = 'ctrl-],d';
const EXIT_CODES = `
The exit code is that of the program in the session; 0 after detaching, 128 and its number after a signal,
${EXIT_FAILURE} for every failure, and where the program has left none.`;

interface AttachOptions {
  readonly role: Role;
  readonly token?: string;
  readonly label: string;
  readonly replayFrom?: number;
  readonly detachKeys: DetachKeys;
}

/** Registers the command. */
export function attach(program: Command): void {
  program
    .command('attach')
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : EXIT_FAILURE))
    .description('show a session in this terminal, and type into it')
    .argument('<url>', "the session's address, as `pty-gateway sessions` lists it")
    .addOption(new Option('--role <role>', 'what to ask for').choices(['controller', 'observer']).default('controller'))
    .addOption(new Option('--token <token>', 'who you are; in the environment it is seen by fewer').env('PTY_GATEWAY_TOKEN'))
    .option('--label <text>', 'how the others see you', label, defaultLabel())
    .option('--replay-from <n>', 'first print what is kept after this frame; 0 is all', frameNumber)
    .addOption(detachKeys())
    .addHelpText('after', EXIT_CODES)
    .action(async (url: string, options: AttachOptions) => {
      process.exitCode = await run(url, options);
    });
}

async function run(url: string, { role, token: given, label, replayFrom, detachKeys }: AttachOptions): Promise<number> {
  try {
    const address = sessionAddress(url);
    const options = { url: address.attach, token: tokenFrom(given, address), role, label, reconnect: { attemptsBeforeLive: 1 } };
    const from = replayFrom === undefined ? {} : { replayFrom };
    const { stdin, stdout, stderr } = process;
    const join = (size: Size | undefined) => connect({ ...options, ...from, ...(size && { size }) });
    return await Attachment.run({ streams: { stdin, stdout, stderr }, detachKeys, connect: join });
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    process.stderr.write(`pty-gateway: ${error.message}\n`);
    return EXIT_FAILURE;
  }
}

function detachKeys(): Option {
  const option = new Option('--detach-keys <keys>', 'leave the session, which goes on').argParser(parseDetachKeys);
  return option.default(parseDetachKeys(DETACH_KEYS), DETACH_KEYS);
}

function label(text: string): string {
  if (text.length > MAX_LABEL_CHARS) throw new InvalidArgumentError(`expected at most ${MAX_LABEL_CHARS} characters`);
  return text;
}

function frameNumber(text: string): number {
  const number = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(number)) throw new InvalidArgumentError('expected the number of a frame, 0 or more');
  return number;
}

/** user@host, as far as they are known. */
function defaultLabel(): string {
  try {
    return `${userInfo().username}@${hostname()}`.slice(0, MAX_LABEL_CHARS);
  } catch {
    return hostname().slice(0, MAX_LABEL_CHARS);
  }
}
