// A2A's JSON as it comes in (ProtoJSON; A2A 1.0 §5.5, §5.7): both spellings of a name, what is not set left out. Knows no operation.
import type { Static, TObject } from '@sinclair/typebox';
import { TypeCompiler } from '@sinclair/typebox/compiler';
import { Value } from '@sinclair/typebox/value';
import { violations } from '../protocol/check.js';
import { JsonRefused, namesPrototype, parseJson } from '../protocol/safe-json.js';
import { A2aFault, violated } from './errors.js';

/** Members whose content is the client's own (google.protobuf.Struct and Value). */
const freeForm: ReadonlySet<string> = new Set(['metadata', 'data']);
/** Texts that mean something when they are empty: members of a oneof. */
const mayBeEmpty: ReadonlySet<string> = new Set(['text', 'raw', 'url']);

/** The value of a body. Throws PARSE_ERROR. */
export function parseBody(text: string): unknown {
  try {
    const value = parseJson(text);
    if (namesPrototype(text, value)) throw new JsonRefused('expected no member named __proto__');
    return value;
  } catch (error) {
    if (!(error instanceof JsonRefused)) throw error;
    throw new A2aFault('PARSE_ERROR', `the body is not valid JSON: ${error.message}`);
  }
}

/** snake_case names become camelCase; where both are given camelCase counts. Null and empty texts are as good as leaving a member out. */
export function fromProtoJson(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(fromProtoJson);
  if (!isObject(value)) return value;
  const members: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(value)) {
    const camel = camelCase(name);
    if (isUnset(camel, member) || (camel !== name && Object.hasOwn(value, camel))) continue;
    members[camel] = freeForm.has(camel) ? member : fromProtoJson(member);
  }
  return members;
}

/** Reads requests of this schema: unknown members are let go. Throws INVALID_REQUEST with each violation. */
export function reader<S extends TObject>(schema: S): (given: unknown) => Static<S> {
  const compiled = TypeCompiler.Compile(schema);
  return (given) => {
    const value = fromProtoJson(given ?? {});
    if (!compiled.Check(value)) throw violated(violations(compiled.Errors(value)));
    return Value.Clean(schema, value) as Static<S>;
  };
}

function isUnset(name: string, value: unknown): boolean {
  return name !== 'data' && (value === null || (value === '' && !mayBeEmpty.has(name)));
}

function camelCase(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

function isObject(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === 'object';
}
