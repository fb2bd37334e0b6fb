// The greeting of a connection (pty-ws §5.1). Knows no session: what it says of one is given.
import type { Hello } from './envelope.js';
import {
  BINARY_SUBPROTOCOL,
  BINDING_URI,
  BINDING_VERSION,
  CORE_OPERATIONS,
  JSON_SUBPROTOCOL,
  PTY_OPERATIONS,
  type Subprotocol,
} from './names.js';

interface Greeting {
  readonly sessionId: string;
  /** The last number given in the session; 0 if none. */
  readonly currentSequence: number;
  /** What the upgrade request activated; an activation in the first frame comes too late for this (protocol R5). */
  readonly activatedExtensions: readonly string[];
  readonly subprotocol: Subprotocol;
}

/** The payload of `binding_hello`. Its envelope has `sequence: 0`. */
export function hello({ sessionId, currentSequence, activatedExtensions, subprotocol }: Greeting): Hello {
  return {
    binding_uri: BINDING_URI,
    binding_version: BINDING_VERSION,
    supported_operations: [...CORE_OPERATIONS, ...PTY_OPERATIONS],
    activated_extensions: [...activatedExtensions],
    session: { session_id: sessionId, current_sequence: currentSequence },
    session_host: {
      supported_backends: ['native'],
      default_backend: 'native',
      supported_classes: ['direct'],
      default_class: 'direct',
      observe_supported: true,
      drive_supported: true,
      reattach_supported: true,
    },
    ...(subprotocol === BINARY_SUBPROTOCOL && {
      payload_mode: { binary: true, binary_subprotocol: BINARY_SUBPROTOCOL, json_subprotocol: JSON_SUBPROTOCOL },
    }),
  };
}
