// What of a screen is the answer to a message: pure functions on lines. Knows no terminal and no task.
import type { Look } from '../terminal/terminal.js';

/**
 * How many lines at the beginning are the echo of the message: the first is the message's first, and each further one ends in the
 * message's next, behind what prompts for it.
 */
export function echoed(lines: readonly string[], message: string): number {
  const typed = message.split(/\r?\n/).map((line) => line.trimEnd());
  if (lines[0] !== typed[0]) return 0;
  const others = typed.findIndex((line, i) => i > 0 && !lines[i]?.endsWith(line));
  return others === -1 ? typed.length : others;
}

/**
 * Without the echo of the message, and, at rest, without a last line that is the prompt at which it was typed. `text` holds whole lines;
 * `rest` are those after them. Without a message there is no echo.
 */
export function answerIn(
  text: string,
  rest: readonly string[],
  { message, prompt }: { message: string | undefined; prompt: string },
): string {
  const isPrompt = rest.length === 1 && prompt.trimEnd() !== '' && rest[0] === prompt.trimEnd();
  const whole = text + (isPrompt ? '' : rest.join('\n'));
  if (message === undefined) return whole;
  // Only so much of it can be the echo: prompts stand before its lines.
  const head = whole.slice(0, 2 * message.length + 4096).split('\n');
  const skipped = head.slice(0, echoed(head, message)).join('\n').length;
  return skipped === 0 ? whole : whole.slice(skipped + 1);
}

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
