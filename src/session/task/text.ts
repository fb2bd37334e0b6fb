// What of a screen is the answer to a message: pure functions on lines. Knows no terminal and no task.
import type { Look } from '../../terminal/terminal.js';

/** What a message was typed at: the end of the line there, and the prompt that the program always comes back to. */
export interface Prompts {
  readonly typedAt: string;
  readonly home: string;
}

/** A prompt that was come back to is home; until then the first one is, so that a question on the way is not. */
export function atPrompt(typedAt: string, before: Prompts): Prompts {
  if (typedAt === '') return { typedAt, home: before.home };
  return { typedAt, home: before.home === '' || typedAt === before.typedAt ? typedAt : before.home };
}

/** What the answer is to. */
interface Asked {
  /** Undefined if its echo is not there any more. */
  readonly message: string | undefined;
  readonly prompts: Prompts;
  /** As in PrintedText. */
  readonly replaced?: string | undefined;
}

/** Without the echo of the message, and, at rest, without the prompt at its end. `text` holds whole lines; `rest` are those after them. */
export function answerIn(text: string, rest: readonly string[], { message, prompts, replaced = '' }: Asked): string {
  const whole = text + withoutPrompt(rest, prompts);
  if (message === undefined) return whole;
  const all = replaced + whole;
  // Only so much of it can be the echo: prompts stand before its lines.
  const head = all.slice(0, replaced.length + 2 * message.length + 4096).split('\n');
  const isDrawnAnew = replaced !== '' || isBehindText(prompts);
  const count = echoed(head, message, isDrawnAnew) || hidden(head, prompts);
  return count === 0 ? all : all.slice(head.slice(0, count).join('\n').length + 1);
}

/**
 * How many lines at the beginning are the echo of the message: the first is the message's first, and each further one ends in the
 * message's next, behind what prompts for it. A first line that was drawn anew only holds it somewhere.
 */
function echoed(lines: readonly string[], message: string, isDrawnAnew: boolean): number {
  const typed = message.split(/\r?\n/).map((line) => line.trimEnd());
  const [first = ''] = typed;
  const isEcho = lines[0] === first || (isDrawnAnew && first !== '' && lines[0]?.includes(first));
  if (!isEcho) return 0;
  const others = typed.findIndex((line, i) => i > 0 && !lines[i]?.endsWith(line));
  return others === -1 ? typed.length : others;
}

/** Whether the prompt stands behind what was printed without an end of line: line editors do not know, and draw in the wrong place. */
const isBehindText = ({ typedAt, home }: Prompts): boolean => home !== '' && typedAt !== home && typedAt.endsWith(home);

/** Shorter ones may be the end of what was printed, as `>` is. */
const LEAST_PROMPT = 3;

/** The home prompt follows what was printed without an end of line, too; another one could be the end of a longer question. */
function withoutPrompt(rest: readonly string[], { typedAt, home }: Prompts): string {
  const [line = '', ...others] = rest;
  if (others.length > 0 || line === '') return rest.join('\n');
  if (line === typedAt || line === home) return '';
  return home.length >= LEAST_PROMPT && line.endsWith(home) ? line.slice(0, -home.length) : line;
}

/** Of a message that is not shown, as a password, there is the end of the line at which it was typed. */
const hidden = ([first, second]: readonly string[], { typedAt }: Prompts): number =>
  typedAt !== '' && first === '' && second !== undefined ? 1 : 0;

/** The lines of the screen, without blank ones at the end. */
export function screenText({ lines }: Pick<Look, 'lines'>): string {
  return lines.slice(0, lines.findLastIndex((line) => line !== '') + 1).join('\n');
}

/** The lines that were not there before, each as often as it is new; without blank ones around them. */
export function newLines(lines: readonly string[], before: readonly string[]): string {
  const known = new Map<string, number>();
  for (const line of before) known.set(line, (known.get(line) ?? 0) + 1);
  const fresh = lines.filter((line) => {
    const left = line === '' ? 0 : (known.get(line) ?? 0);
    known.set(line, left - 1);
    return left <= 0;
  });
  const first = fresh.findIndex((line) => line !== '');
  return first === -1 ? '' : fresh.slice(first, fresh.findLastIndex((line) => line !== '') + 1).join('\n');
}
