// Says what is wrong with a value, and where, in words that its sender understands. Knows schemas, and no protocol.
import { KindGuard, type TObject, type TSchema } from '@sinclair/typebox';
import { TypeCompiler, type ValueError, type ValueErrorIterator, ValueErrorType } from '@sinclair/typebox/compiler';

/** Longest text that is shown back, in characters. */
const MAX_SHOWN_CHARS = 60;
/** Most mistakes that are told of one value. */
const MAX_VIOLATIONS = 16;

/**
 * The first thing wrong with a value, as `payload.cols: expected an integer from 1 to 1024, got 0`; undefined if nothing is. `where`
 * is what the value is called this time, and is left out if empty.
 */
export type Checker = (value: unknown, where?: string) => string | undefined;

/** Compiles a schema, once; `usually` is what its values are called. */
export function checker(schema: TSchema, usually: string): Checker {
  const compiled = TypeCompiler.Compile(schema);
  return (value, where = usually) => {
    if (compiled.Check(value)) return undefined;
    const error = compiled.Errors(value).First();
    return error && complaint(error, where);
  };
}

/** A copy in which null is as good as leaving an optional member out, as in A2A's JSON; members that the schema does not name are kept. */
export function withoutNulls(value: Record<string, unknown>, schema: TObject): Record<string, unknown> {
  const copy = { ...value };
  for (const [name, member] of Object.entries(schema.properties)) {
    const given = copy[name];
    if (given === null && !schema.required?.includes(name)) delete copy[name];
    else if (isObject(given) && KindGuard.IsObject(member)) copy[name] = withoutNulls(given, member);
  }
  return copy;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

function complaint(error: ValueError, where: string): string {
  const path = pathOf(error, where) || 'the frame';
  if (error.type === ValueErrorType.ObjectAdditionalProperties) return `${path} is unknown here`;
  return `${path}: ${mistake(error)}`;
}

/** What is wrong, member by member and each member once: where, as `message.parts.0`, and what. */
export function violations(errors: ValueErrorIterator): Array<{ readonly field: string; readonly description: string }> {
  const first = new Map<string, ValueError>();
  for (const error of errors) {
    const field = pathOf(error, '');
    if (!first.has(field)) first.set(field, error);
    if (first.size === MAX_VIOLATIONS) break;
  }
  return [...first].map(([field, error]) => ({ field, description: mistake(error) }));
}

function pathOf(error: ValueError, where: string): string {
  const steps = error.path.split('/').slice(1).map(unescaped);
  return [where, ...steps].filter((step) => step !== '').join('.');
}

const mistake = (error: ValueError): string => `expected ${expected(error.schema)}, got ${found(error)}`;

/** A step of a JSON pointer (RFC 6901 §4). */
const unescaped = (step: string): string => step.replace(/~1/g, '/').replace(/~0/g, '~');

/** What a schema asks for, as `an integer from 1 to 1024`. A string's title says what its pattern means. */
export function expected(schema: TSchema): string {
  if (KindGuard.IsNever(schema)) return 'nothing here';
  if (KindGuard.IsUnion(schema)) return alternatives(schema.anyOf.map(expected));
  if (KindGuard.IsNull(schema)) return 'null';
  if (KindGuard.IsLiteral(schema)) return JSON.stringify(schema.const);
  if (schema.format === 'base64') return 'base64 (RFC 4648 §4, padded, without white space)';
  if (KindGuard.IsInteger(schema)) return `an integer${range(schema.minimum, schema.maximum)}`;
  if (KindGuard.IsString(schema)) return schema.title ?? `a string${amount('characters', schema.minLength, schema.maxLength)}`;
  if (KindGuard.IsArray(schema)) return `an array${amount('items', schema.minItems, schema.maxItems)}`;
  return KindGuard.IsObject(schema) || KindGuard.IsRecord(schema) ? 'an object' : `a ${schema.type}`;
}

function alternatives(words: readonly string[]): string {
  return words.length > 2 ? `one of ${words.join(', ')}` : words.join(' or ');
}

function range(least?: number, most?: number): string {
  if (least === undefined) return most === undefined ? '' : ` up to ${most}`;
  return most === undefined ? ` from ${least} on` : ` from ${least} to ${most}`;
}

function amount(unit: string, least = 0, most?: number): string {
  if (most !== undefined) return ` of ${least} to ${most} ${unit}`;
  return least > 0 ? ` of at least ${least} ${unit}` : '';
}

/** A text where a text belongs may be a secret, or is to be typed, and messages may end up in a log: only its length is told. */
function found({ value, schema }: ValueError): string {
  const hidden = KindGuard.IsString(schema) && typeof value === 'string' && value !== '';
  return hidden ? `a string of ${value.length} characters` : shown(value);
}

/** A value in a few words: a text in quotes, cut short; what has parts by their number. */
export function shown(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (typeof value === 'object' && value !== null) return 'an object';
  const text = typeof value === 'string' ? JSON.stringify(value) : String(value);
  return text.length > MAX_SHOWN_CHARS ? `${text.slice(0, MAX_SHOWN_CHARS)}…` : text;
}
