// JSON from strangers: refuses what would hurt the parser, and finds what would hurt those who use its values. Knows no envelope.

/** Most characters of one text. The socket is stricter; this holds for whoever else calls. */
export const MAX_JSON_CHARS = 16 * 1024 * 1024;
/** Deepest nesting of objects and arrays. Without it a megabyte of brackets takes the parser a fifth of a second. */
export const MAX_JSON_DEPTH = 64;

/** Says in its message what was wrong with a text, in words for the sender. */
export class JsonRefused extends Error {
  override readonly name = 'JsonRefused';
}

/** The value of a JSON text, or JsonRefused. */
export function parseJson(text: string): unknown {
  if (text.length > MAX_JSON_CHARS) throw new JsonRefused(`expected at most ${MAX_JSON_CHARS} characters, got ${text.length}`);
  if (isDeep(text)) throw new JsonRefused(`expected objects and arrays nested at most ${MAX_JSON_DEPTH} deep`);
  try {
    return JSON.parse(text);
  } catch {
    throw new JsonRefused('expected JSON');
  }
}

/** Whether a member named `__proto__` is anywhere in the value of a text: harmless until someone assigns it to another object. */
export function namesPrototype(text: string, value: unknown): boolean {
  // The name stands in the text as it is or with an escape, so most texts need no walk.
  return (text.includes('__proto__') || text.includes('\\u')) && hasPrototypeKey(value);
}

function hasPrototypeKey(value: unknown): boolean {
  if (value === null || typeof value !== 'object') return false;
  return Object.hasOwn(value, '__proto__') || Object.values(value).some(hasPrototypeKey);
}

const [QUOTE, OPEN_BRACE, OPEN_BRACKET, CLOSE_BRACE, CLOSE_BRACKET] = [0x22, 0x7b, 0x5b, 0x7d, 0x5d];

/** Agrees with the parser up to the first mistake in the text, where the parser stops. */
function isDeep(text: string): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const c = text.charCodeAt(at);
    if (c === QUOTE) at = closingQuote(text, at);
    else if (c === OPEN_BRACE || c === OPEN_BRACKET) depth++;
    else if (c === CLOSE_BRACE || c === CLOSE_BRACKET) depth--;
    if (depth > MAX_JSON_DEPTH) return true;
  }
  return false;
}

/** The place of the quote that ends the string begun at `open`, or the end of the text. */
function closingQuote(text: string, open: number): number {
  for (let at = text.indexOf('"', open + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let escapes = 0;
    while (text[at - 1 - escapes] === '\\') escapes++;
    if (escapes % 2 === 0) return at;
  }
  return text.length;
}
