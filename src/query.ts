// What stands in an address is text: the numbers and truth values that a schema expects are read out of it. Knows no address.
import { KindGuard, type TObject, type TSchema } from '@sinclair/typebox';

/** A copy with each member as its schema means it. A text that does not say exactly that, as `1.5` for an integer, stays for the check to refuse. */
export function fromQuery(schema: TObject, query: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const members = Object.entries(query).map(([name, text]) => [name, meant(schema.properties[name], text)] as const);
  return Object.fromEntries(members);
}

function meant(schema: TSchema | undefined, text: unknown): unknown {
  if (schema === undefined || typeof text !== 'string') return text;
  if (KindGuard.IsInteger(schema)) return /^-?\d+$/.test(text) ? Number(text) : text;
  if (KindGuard.IsBoolean(schema)) return text === 'true' || (text === 'false' ? false : text);
  return text;
}
