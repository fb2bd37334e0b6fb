// What of a screen is the answer to a message: pure functions on lines. Knows no terminal and no task.

import { newest } from '../../terminal/since-mark.js';
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
  if (line === typedAt || line === home || isAkin(line, home)) return '';
  return home.length >= LEAST_PROMPT && line.endsWith(home) ? line.slice(0, -home.length) : line;
}

/** How prompts end, and questions do not. */
const PROMPT_END = /[$#%>❯➜»]$/u;

/** The home prompt with something else in its middle: another folder, another branch. */
function isAkin(line: string, home: string): boolean {
  const isPrompt = PROMPT_END.test(home) && line.at(-1) === home.at(-1);
  return isPrompt && line.slice(0, LEAST_PROMPT) === home.slice(0, LEAST_PROMPT) && home.length > LEAST_PROMPT;
}

/** Of a message that is not shown, as a password, there is the end of the line at which it was typed. */
const hidden = ([first, second]: readonly string[], { typedAt }: Prompts): number =>
  typedAt !== '' && first === '' && second !== undefined ? 1 : 0;

/** Where the prompt of a program may be: at the cursor, or anywhere on the screen while that is hidden. */
export function promptLines({ lines, cursor, prompt }: Pick<Look, 'lines' | 'cursor' | 'prompt'>): readonly string[] {
  return cursor.visible ? [prompt.trimEnd(), lines[cursor.row] ?? ''] : lines;
}

/** UTF-16 units of a question, the newest of it. */
const MAX_QUESTION = 1000;

/** What a program asks that waits: the line up to the cursor, its prompt if it has no other question. Empty while the cursor is hidden. */
export function questionIn({ cursor, prompt }: Pick<Look, 'cursor' | 'prompt'>): string {
  return cursor.visible ? newest(prompt.trimEnd(), MAX_QUESTION) : '';
}

/** The lines of the screen, without blank ones at the end. */
export function screenText({ lines }: Pick<Look, 'lines'>): string {
  return lines.slice(0, lines.findLastIndex((line) => line !== '') + 1).join('\n');
}

/**
 * The lines that were not there before, each as often as it is new. Left out around them are blank lines and those that only draw a frame, and at their
 * beginning the message as the program shows it.
 */
export function newLines(lines: readonly string[], before: readonly string[], message = ''): string {
  const known = new Map<string, number>();
  for (const line of before) known.set(line, (known.get(line) ?? 0) + 1);
  const fresh = lines.filter((line) => {
    const left = line === '' ? 0 : (known.get(line) ?? 0);
    known.set(line, left - 1);
    return left <= 0;
  });
  const text = withoutFrame(fresh);
  return withoutFrame(text.slice(shown(text, message))).join('\n');
}

/** Blank, or nothing but what frames are drawn with: boxes, blocks. */
const FRAME = /^[\s\u2500-\u259f]*$/;
/** What programs put before a message: nothing, or what ends in a sign. */
const MARK = /(^|[^\p{L}\p{N}\s])\s*$/u;

function withoutFrame(lines: readonly string[]): readonly string[] {
  const isContent = (line: string) => !FRAME.test(line);
  const first = lines.findIndex(isContent);
  return first === -1 ? [] : lines.slice(first, lines.findLastIndex(isContent) + 1);
}

/** How many lines at the beginning are the message, or as much of it as is shown. */
function shown(lines: readonly string[], message: string): number {
  const typed = message.split(/\r?\n/).map((line) => line.trim());
  const isTyped = (line: string, i: number) => {
    const bare = (lines[i] ?? '').replace(/[\s\u2500-\u259f]+$/, '');
    return bare.endsWith(line) && MARK.test(bare.slice(0, bare.length - line.length));
  };
  if (typed[0] === '') return 0;
  const others = typed.findIndex((line, i) => !isTyped(line, i));
  return others === -1 ? typed.length : others;
}
