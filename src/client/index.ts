// The client, for browsers: `connect` and what it gives. Loads nothing but this folder and the wire's pure parts.
import { Fault } from '../errors.js';
import { BINARY_SUBPROTOCOL } from '../protocol/names.js';
import { type ClientOptions, TerminalClient } from './client.js';
import { defaultRetry } from './retry.js';
import { type Dial, dialWith, type WebSocketClass } from './socket.js';

export { Fault } from '../errors.js';
export type { PresenceAct } from '../protocol/names.js';
export type { PresenceState } from '../protocol/presence.js';
export type { ClientOptions, TerminalClient } from './client.js';
export type { RequestOptions } from './connection.js';
export { ClientEnded } from './ended.js';
export type { Frames, FramesOptions, ScreenFrame } from './frames.js';
export type { Missed } from './gap.js';
export type { Ended, State, TokenSource } from './link.js';
export type { Payload, Task } from './messages.js';
export type { Heartbeat } from './pulse.js';
export type { Assigned, ClientEvents, Members, Notice, Picture, Size } from './receiver.js';
export type { EndReason, Retry } from './retry.js';
export type { WebSocketClass, WebSocketLike } from './socket.js';
export type { OutgoingMessage, SendConfiguration, Tasks, Waiting } from './tasks.js';

export interface ConnectOptions extends ClientOptions {
  /** Default: the platform's own. */
  readonly WebSocket?: WebSocketClass;
}

/** Attaches to a session. Returns at once: listen to `state` for how it goes, and to the other events for what happens in the session. */
export function connect(options: ConnectOptions): TerminalClient {
  const WebSocket = options.WebSocket ?? (globalThis as { WebSocket?: WebSocketClass }).WebSocket;
  if (!WebSocket) throw new Fault('INVALID_REQUEST', 'there is no WebSocket here: give one as `WebSocket`, or use the client for Node');
  return connectBy(dialWith(WebSocket), options);
}

/** As `connect`, over sockets of another making. */
export function connectBy(dial: Dial, options: ClientOptions): TerminalClient {
  const { reconnect } = options;
  const retry = reconnect === false ? { ...defaultRetry, attempts: 1, attemptsBeforeLive: 1 } : { ...defaultRetry, ...reconnect };
  return new TerminalClient(options, dial, retry, options.subprotocol ?? BINARY_SUBPROTOCOL);
}
