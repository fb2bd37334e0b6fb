// Says in one sentence what is wrong with a value, and where. Knows no file, no environment and no HTTP.
import type { TSchema } from '@sinclair/typebox';
import { Value, type ValueError, ValueErrorType } from '@sinclair/typebox/value';

/** Characters of a wrong value that are shown. */
const SHOWN = 60;

/** What a schema asks for, in words: "an integer from 1 to 1024". */
export function expectation(schema: TSchema): string {
  if (Array.isArray(schema.anyOf)) return alternatives(schema.anyOf);
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  switch (schema.type) {
    case 'integer':
    case 'number':
      return `an integer${range(schema.minimum, schema.maximum)}`;
    case 'string':
      return schema.title ?? `a string${amount(schema.minLength, schema.maxLength, 'characters')}`;
    case 'array':
      return `an array${amount(schema.minItems, schema.maxItems, 'items')}`;
    case 'boolean':
      return 'true or false';
    default:
      return schema.type ? `${/^[aeiou]/.test(schema.type) ? 'an' : 'a'} ${schema.type}` : 'something else';
  }
}

/** The first thing in which the value is not what the schema asks for, or undefined. `root` names the value itself. */
export function explain(schema: TSchema, value: unknown, root: string): string | undefined {
  const error = Value.Errors(schema, value).First();
  return error && sentence(error, root);
}

/** A value as it is quoted in a message, cut short. */
export function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text;
}

function sentence(error: ValueError, root: string): string {
  const where = `${root}${error.path.replace(/~1/g, '/').replace(/~0/g, '~').replace(/\//g, '.')}`;
  if (error.type === ValueErrorType.ObjectRequiredProperty) return `${where} is missing; expected ${expectation(error.schema)}`;
  if (error.type === ValueErrorType.ObjectAdditionalProperties) return `${where} is unknown here`;
  return `${where}: expected ${expectation(error.schema)}, got ${found(error)}`;
}

/** A string where a string belongs may be a secret, so only its length is told. */
function found({ schema, value }: ValueError): string {
  return schema.type === 'string' && typeof value === 'string' ? `${value.length} characters` : shown(value);
}

function alternatives(schemas: TSchema[]): string {
  const words = schemas.map((s) => (s.type === 'null' ? 'null' : expectation(s)));
  return words.length > 2 ? `one of ${words.join(', ')}` : words.join(' or ');
}

function range(low: number | undefined, high: number | undefined): string {
  if (low === undefined) return high === undefined ? '' : ` up to ${high}`;
  return high === undefined ? ` from ${low} on` : ` from ${low} to ${high}`;
}

function amount(low: number | undefined, high: number | undefined, unit: string): string {
  if (high !== undefined) return ` of ${low ?? 0} to ${high} ${unit}`;
  return low ? ` of at least ${low} ${unit}` : '';
}
