// The dialect of the reference implementation, for its clients (docs/legacy-clients.md). Knows no socket, and not who speaks it.
import type { Codec } from './codec.js';
import { encodeLegacyError, encodeLegacyFrame, encodeLegacyMessage } from './legacy-frames.js';
import { decodeLegacy } from './legacy-requests.js';

/** RFC 6455 §7.4.1: its clients take 1000 for the end of the session, and come back after this. */
const GOING_AWAY = 1001;

export const legacyCodec: Codec = {
  decode: decodeLegacy,
  frame: encodeLegacyFrame,
  /** Their terminals lose what was scrolled up by every Keyframe, and wait for none; tasks are told to those who asked. */
  leavesOut: ({ kind }) => kind === 'Keyframe' || kind === 'TaskStatusUpdate',
  message: encodeLegacyMessage,
  error: encodeLegacyError,
  goodbye: (reason, code) => ({ text: undefined, code: reason === 'server_shutdown' ? GOING_AWAY : code }),
};
