// The fixed names of the wire: URIs, subprotocols, operations. Knows nothing else.

/** pty-ws §1. */
export const BINDING_URI = 'https://agentic-sandbox.aiwg.io/bindings/pty-ws/v1';
export const BINDING_VERSION = '1.0.0';
/** pty-ext §1. */
export const EXTENSION_URI = 'https://agentic-sandbox.aiwg.io/extensions/pty-extensions/v1';
/** pty-ext §7.5. */
export const SNAPSHOT_FORMAT = 'vt100-screen-state-v1';

/** presence §1: in the first frame's `extensions`; who does not name it is told nothing of it. */
export const PRESENCE_URI = 'urn:pty-gateway:extensions:presence:v1';
/** presence §3: `ask` for control and `withdraw` that; as controller `grant` it or `decline`; `take_back` what was granted. */
export const presenceActs = ['ask', 'withdraw', 'grant', 'decline', 'take_back'] as const;
export type PresenceAct = (typeof presenceActs)[number];

/** pty-ws §2.2. */
export const JSON_SUBPROTOCOL = 'pty-ws.v1';
export const BINARY_SUBPROTOCOL = 'pty-ws.v1.binary';
export type Subprotocol = typeof JSON_SUBPROTOCOL | typeof BINARY_SUBPROTOCOL;
/** A browser's token, offered as `bearer.<base64url of the token>`; never echoed. */
export const BEARER_PREFIX = 'bearer.';

/** pty-ws §4, in the order that the hello tells them. */
export const CORE_OPERATIONS = ['SendMessage', 'SendStreamingMessage', 'GetTask', 'ListTasks', 'CancelTask', 'SubscribeToTask'] as const;

/** pty-ext §6. */
export const PTY_OPERATIONS = [
  'pty.join_session',
  'pty.leave_session',
  'pty.session_input',
  'pty.session_resize',
  'pty.request_role',
  'pty.request_keyframe',
] as const;

/** pty-ws §4, §5.6, presence §3: understood, though the hello does not list them. */
export const OTHER_OPERATIONS = ['Unsubscribe', 'UpdateServiceParameters', 'ping', 'presence.act'] as const;

/** All that a client may ask for. */
export type Op = (typeof CORE_OPERATIONS)[number] | (typeof PTY_OPERATIONS)[number] | (typeof OTHER_OPERATIONS)[number];

/** The `reason` of a RoleAssigned (pty-ext §7.3) in a session that has ended: a Closed follows. */
export const HAS_ENDED = 'the session has ended';
