// Says what is wrong with a value, and where, in words that its sender understands. Knows schemas, and no protocol.
import { KindGuard, type TObject, type TSchema } from '@sinclair/typebox';
import { TypeCompiler, type ValueError } from '@sinclair/typebox/compiler';

/** Longest text that is shown back, in characters. */
const MAX_SHOWN_CHARS = 32;

/** The first thing wrong with a value, as `payload.cols: expected an integer from 1 to 1024, got 0`; undefined if nothing is. */
export type Checker = (value: unknown) => string | undefined;

/** Compiles a schema, once; `where` is what the value is called, and is left out if empty. */
export function checker(schema: TSchema, where: string): Checker {
  const compiled = TypeCompiler.Compile(schema);
  return (value) => {
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
  const path = [where, ...error.path.split('/').slice(1)].filter((step) => step !== '').join('.');
  return `${path || 'the frame'}: expected ${expected(error.schema)}, got ${shown(error)}`;
}

function expected(schema: TSchema): string {
  if (KindGuard.IsNever(schema)) return 'nothing here';
  if (KindGuard.IsUnion(schema)) return schema.anyOf.map(expected).join(' or ');
  if (KindGuard.IsNull(schema)) return 'null';
  if (KindGuard.IsLiteral(schema)) return JSON.stringify(schema.const);
  if (schema.format === 'base64') return 'base64 (RFC 4648 §4, padded, without white space)';
  if (KindGuard.IsInteger(schema)) return `an integer from ${schema.minimum} to ${schema.maximum}`;
  if (KindGuard.IsString(schema)) return `a string of ${range(schema.minLength, schema.maxLength)} characters`;
  if (KindGuard.IsArray(schema)) return `an array of ${range(schema.minItems, schema.maxItems)} items`;
  return KindGuard.IsObject(schema) || KindGuard.IsRecord(schema) ? 'an object' : `a ${schema.type}`;
}

function range(least = 0, most?: number): string {
  return most === undefined ? `at least ${least}` : `${least} to ${most}`;
}

/** What is to be typed is never shown: messages may end up in a log. */
function shown({ value, schema }: ValueError): string {
  if (value === undefined) return 'nothing';
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (typeof value === 'object') return 'an object';
  const text = String(value);
  return schema.format || text.length > MAX_SHOWN_CHARS ? `a string of ${text.length} characters` : JSON.stringify(text);
}
