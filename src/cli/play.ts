// `pty-gateway play`: what a session has shown, or an asciicast, in this terminal. Knows the options; playing is `play/`.
import { type Command, InvalidArgumentError, Option } from 'commander';
import { CommandError, done } from './failure.js';
import { type GatewayOptions, withGateway } from './gateway.js';
import { HOW_TO_NAME } from './named-session.js';
import { type PlayingOptions, play as playHere, playRaw } from './play/playing.js';
import { recordingOf } from './play/source.js';

/** Times as fast as it happened. */
const SPEED = { least: 0.1, most: 100 };

interface PlayOptions extends GatewayOptions {
  readonly speed: number;
  readonly idleLimit?: number;
  readonly from: number;
  readonly raw?: true;
}

const KEYS = `
Space plays and pauses; the arrow keys leap 5 s back and on, Home and End to both ends; , and . go to the output before
and to the next one; - and + change the speed; q leaves. The exit code is 0, 1 for every failure, and 128 and its number
after a signal.`;

/** Registers the command. */
export function play(program: Command): void {
  withGateway(program.command('play').description('show again what a session has shown, or an asciicast'))
    .argument('<what>', `a file (asciicast, version 2), or a session: ${HOW_TO_NAME}`)
    .addOption(new Option('-s, --speed <times>', 'so many times as fast').argParser(speed).default(1))
    .option('-i, --idle-limit <seconds>', 'wait no longer than this for what comes next', seconds)
    .option('--from <time>', 'begin there, as 90, 1:30 or 1:02:03 after the beginning', time, 0)
    .option('--raw', 'print the output as it is, with its times, whatever it is printed to')
    .addHelpText('after', KEYS)
    .action((what: string, options: PlayOptions) =>
      done(async () => {
        process.exitCode = await run(what, options);
      }),
    );
}

async function run(what: string, { speed, idleLimit, from, raw, ...gateway }: PlayOptions): Promise<number> {
  const { stdin, stdout, stderr } = process;
  if (!raw && !stdout.isTTY) throw new CommandError('the output is no terminal; with --raw it is printed all the same, as it is');
  const limit = idleLimit === undefined ? Number.POSITIVE_INFINITY : idleLimit * 1000;
  const playing: PlayingOptions = { streams: { stdin, stdout, stderr }, speed, idleLimit: limit, from: from * 1000 };
  const recording = await recordingOf(what, gateway);
  return raw ? playRaw(recording, playing) : playHere(recording, playing);
}

function speed(text: string): number {
  const times = Number(text);
  if (!(times >= SPEED.least && times <= SPEED.most)) throw new InvalidArgumentError(`expected ${SPEED.least} to ${SPEED.most}`);
  return times;
}

function seconds(text: string): number {
  if (!/^\d+(\.\d+)?$/.test(text)) throw new InvalidArgumentError('expected seconds, 0 or more');
  return Number(text);
}

function time(text: string): number {
  if (!/^(\d+:){0,2}\d+(\.\d+)?$/.test(text)) throw new InvalidArgumentError('expected a time, as 90, 1:30 or 1:02:03');
  return text.split(':').reduce((sum, part) => sum * 60 + Number(part), 0);
}
