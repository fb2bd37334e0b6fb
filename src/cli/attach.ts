// `pty-gateway attach`: a session in this terminal. Knows the options; what they lead to is an Attachment.
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Size } from '../client/node.js';
import type { Role } from '../protocol/frames.js';
import { Attachment } from './attachment.js';
import { type DetachKeys, parseDetachKeys } from './detach-keys.js';
import { done, exits, usageExits } from './failure.js';
import { type GatewayOptions, withGateway } from './gateway.js';
import { defaultLabel, type Joining, join, MAX_LABEL_CHARS } from './joining.js';
import { HOW_TO_NAME, type NamedSession, namedSession } from './named-session.js';
import { screenText } from './screen.js';

const DETACH_KEYS = 'ctrl-],d';
const EXIT_CODES = `
The exit code is that of the program in the session; 0 after detaching, 128 and its number after a signal,
${exits.failedElse} for every failure, and where the program has left none.`;

interface AttachOptions extends GatewayOptions {
  readonly role: Role;
  readonly label: string;
  readonly replayFrom?: number;
  readonly detachKeys: DetachKeys;
}

/** Registers the command. */
export function attach(program: Command): void {
  withGateway(usageExits(program.command('attach'), exits.failedElse).description('show a session in this terminal, and type into it'))
    .argument('<session>', HOW_TO_NAME)
    .addOption(new Option('--role <role>', 'what to ask for').choices(['controller', 'observer']).default('controller'))
    .option('--label <text>', 'how the others see you', label, defaultLabel())
    .option('--replay-from <n>', 'first print what is kept after this frame; 0 is all', frameNumber)
    .addOption(detachKeys())
    .addHelpText('after', EXIT_CODES)
    .action((name: string, options: AttachOptions) =>
      done(async () => {
        process.exitCode = await run(name, options);
      }, exits.failedElse),
    );
}

/** Resolves with the exit code. */
async function run(name: string, { role, label, replayFrom, detachKeys, ...gateway }: AttachOptions): Promise<number> {
  const from = replayFrom === undefined ? {} : { replayFrom };
  return show(await namedSession(name, gateway), { role, label, ...from }, detachKeys);
}

/** As `attach` does where nothing else is asked for. Resolves with the exit code. */
export function attachTo(session: NamedSession): Promise<number> {
  return show(session, { role: 'controller' }, parseDetachKeys(DETACH_KEYS));
}

function show(session: NamedSession, joining: Joining, detachKeys: DetachKeys): Promise<number> {
  const { stdin, stdout, stderr } = process;
  const asks = joining.role === 'controller';
  const presence = asks && !stdin.isTTY;
  const connect = (size: Size | undefined) => join(session, { ...joining, presence, ...(size && { size }) });
  return Attachment.run({ streams: { stdin, stdout, stderr }, detachKeys, asks, connect, lastScreen: () => screenText(session) });
}

function detachKeys(): Option {
  const option = new Option('--detach-keys <keys>', 'leave the session, which goes on').argParser(parseDetachKeys);
  return option.default(parseDetachKeys(DETACH_KEYS), DETACH_KEYS);
}

function label(text: string): string {
  if (text.length > MAX_LABEL_CHARS) throw new InvalidArgumentError(`expected at most ${MAX_LABEL_CHARS} characters`);
  return text;
}

export function frameNumber(text: string): number {
  const number = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(number)) throw new InvalidArgumentError('expected the number of a frame, 0 or more');
  return number;
}
