// How many columns a text takes in a terminal, and texts of so many. Knows no terminal: of characters whose width terminals disagree on it has the usual one.

/** Two columns: East Asian wide and fullwidth characters, and emoji that are pictures by themselves. */
const WIDE =
  /^[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Bopomofo}\p{Script=Yi}\p{Emoji_Presentation}\u3000-\u303e\u30fb\u30fc\uff01-\uff60\uffe0-\uffe6]$/u;
/** One column although their script is of the others. */
const HALFWIDTH = /^[\uff61-\uffdc]$/u;
/** None: they are drawn over the one before. */
const COMBINING = /^[\p{Mn}\p{Me}\u200b-\u200f\u1160-\u11ff]$/u;
const ASCII = /^[ -~]*$/;

/** In columns. The text has no control characters. */
export function widthOf(text: string): number {
  if (ASCII.test(text)) return text.length;
  return [...text].reduce((sum, character) => sum + widthOfOne(character), 0);
}

/** As much of its beginning as there is room for, in whole characters. */
export function startOf(text: string, columns: number): string {
  let left = columns;
  let end = 0;
  for (const character of text) {
    left -= widthOfOne(character);
    if (left < 0) break;
    end += character.length;
  }
  return text.slice(0, end);
}

/** As much of the text as there is room for; where something is missing, an ellipsis ends it. */
export const cut = (text: string, columns: number): string =>
  widthOf(text) <= columns ? text : `${startOf(text, Math.max(0, columns - 1))}…`;

/** With blanks behind it, as wide as it is to be. */
export const padded = (text: string, columns: number): string => text + ' '.repeat(Math.max(0, columns - widthOf(text)));

function widthOfOne(character: string): number {
  if (COMBINING.test(character)) return 0;
  return WIDE.test(character) && !HALFWIDTH.test(character) ? 2 : 1;
}
