// Which of the extensions that a client names become active, on each binding (pty-ext §3; A2A 1.0 §4.6). Knows no request and no header.
import { Fault } from '../errors.js';
import { BINDING_URI, EXTENSION_URI, PRESENCE_URI } from '../protocol/names.js';

/** The extensions that are served, each with the one binding that carries it. */
const carriers: ReadonlyMap<string, string> = new Map([
  [EXTENSION_URI, BINDING_URI],
  [PRESENCE_URI, BINDING_URI],
]);

/** Those of the named ones that `pty-ws/v1` carries; unknown ones are ignored. */
export function activateOnWebSocket(names: readonly string[]): readonly string[] {
  return carriedBy(BINDING_URI, names);
}

/**
 * Those of the named ones that HTTP+JSON and JSON-RPC carry (there is none so far); unknown ones are ignored.
 * Throws UNSUPPORTED_OPERATION for an extension that must not be activated there; `details` tell which binding it needs.
 */
export function activateOnHttp(names: readonly string[]): readonly string[] {
  const extension = names.find((name) => carriers.has(name));
  if (extension === undefined) return [];
  const requiredBinding = carriers.get(extension);
  throw new Fault(
    'UNSUPPORTED_OPERATION',
    `UnsupportedExtension: ${extension} cannot be activated over HTTP; it needs ${requiredBinding}`,
    {
      details: { reason: 'UNSUPPORTED_EXTENSION', extension, requiredBinding },
    },
  );
}

function carriedBy(binding: string, names: readonly string[]): readonly string[] {
  return [...carriers.keys()].filter((extension) => carriers.get(extension) === binding && names.includes(extension));
}
