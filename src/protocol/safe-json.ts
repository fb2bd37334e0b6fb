// JSON from strangers: refuses what would hurt before it is parsed, and what would hurt those who use it. Knows no envelope.

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
  if (text.length > MAX_JSON_CHARS) throw new JsonRefused(`the text is longer than ${MAX_JSON_CHARS} characters`);
  if (isDeep(text)) throw new JsonRefused(`the text is nested deeper than ${MAX_JSON_DEPTH}`);
  const value = parse(text);
  if (hasPrototypeKey(value)) throw new JsonRefused('a member is named __proto__');
  return value;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new JsonRefused('the text is not JSON');
  }
}

/** Agrees with the parser up to the first mistake in the text, where the parser stops. */
function isDeep(text: string): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const c = text[at];
    if (c === '"') at = closingQuote(text, at);
    else if (c === '{' || c === '[') depth++;
    else if (c === '}' || c === ']') depth--;
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

/** Such a member is harmless until someone assigns it to another object. */
function hasPrototypeKey(value: unknown): boolean {
  if (value === null || typeof value !== 'object') return false;
  return Object.hasOwn(value, '__proto__') || Object.values(value).some(hasPrototypeKey);
}
