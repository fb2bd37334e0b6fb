// One table of all that can go wrong, for wire, HTTP and close codes. Knows no transport.

/** How a code looks from outside: its A2A type, whether trying again may help, and its HTTP status (pty-ws §6). */
interface ErrorRow {
  readonly a2a: string;
  readonly retryable: boolean;
  readonly status: number;
}

/** The codes of `op: "Error"` frames and of HTTP error bodies (pty-ws §6). */
export const errorTable = {
  TASK_NOT_FOUND: { a2a: 'TaskNotFound', retryable: false, status: 404 },
  TASK_NOT_CANCELABLE: { a2a: 'TaskNotCancelable', retryable: false, status: 409 },
  INVALID_REQUEST: { a2a: 'InvalidRequest', retryable: false, status: 400 },
  UNSUPPORTED_OPERATION: { a2a: 'UnsupportedOperation', retryable: false, status: 400 },
  UNAUTHENTICATED: { a2a: 'Unauthenticated', retryable: false, status: 401 },
  PERMISSION_DENIED: { a2a: 'PermissionDenied', retryable: false, status: 403 },
  RATE_LIMITED: { a2a: 'RateLimited', retryable: true, status: 429 },
  INTERNAL: { a2a: 'Internal', retryable: true, status: 500 },
  REPLAY_OUT_OF_RANGE: { a2a: 'ReplayOutOfRange', retryable: false, status: 416 },
} as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof errorTable;

/** The codes of the PTY-level `Error` session frame (pty-ext §7.7). */
export type PtyErrorCode = 'PTY_WRITE_FAILED' | 'PTY_RESIZE_FAILED' | 'PTY_OUTPUT_LAGGED' | 'KEYFRAME_UNAVAILABLE';

/** WebSocket close codes (pty-ws §6). */
export const closeCode = {
  orderly: 1000,
  tooBig: 1009,
  fault: 1011,
  protocol: 4400,
  authentication: 4401,
  authorization: 4403,
  gone: 4404,
  rateLimited: 4429,
} as const;

/** Why a connection is ended in order (pty-ws §5.4). */
export type GoodbyeReason = 'server_shutdown' | 'session_closed' | 'principal_revoked' | 'rate_limited' | 'other';

interface FaultOptions {
  /** HTTP status, where the table's default for the code does not fit (a session that is unknown, a command that cannot start). */
  readonly status?: number;
  readonly retryable?: boolean;
  readonly details?: Record<string, unknown>;
  /** The audit calls it a denial: what is hidden from who asks is to them as what is not there. Default: whether the code is PERMISSION_DENIED. */
  readonly isDenial?: boolean;
  readonly cause?: unknown;
}

/** A failure with a name: what is thrown wherever a client is to be told. Its message is shown to the client. */
export class Fault extends Error {
  override readonly name = 'Fault';
  readonly code: ErrorCode;
  readonly status: number;
  readonly retryable: boolean;
  readonly details: Record<string, unknown> | undefined;
  readonly isDenial: boolean;

  constructor(code: ErrorCode, message: string, options: FaultOptions = {}) {
    super(message, { cause: options.cause });
    this.code = code;
    this.status = options.status ?? errorTable[code].status;
    this.retryable = options.retryable ?? errorTable[code].retryable;
    this.details = options.details;
    this.isDenial = options.isDenial ?? code === 'PERMISSION_DENIED';
  }
}

export const isDenial = (error: unknown): boolean => error instanceof Fault && error.isDenial;

/** Whether the gateway itself has failed: nobody asked for what they may not have, and it does not pass by itself (503). */
export const isFailure = ({ status }: Fault): boolean => status >= 500 && status !== 503;

/** Why, for the log: what the client is told, and what is behind it, which the client is not. */
export function whyOf({ message, cause }: Fault): string {
  return cause instanceof Error ? `${message} (${cause.message})` : message;
}

/** What clients are told of failures that have a name of their own (LogError), and that are none of the client's own. */
const told: ReadonlyMap<string, { readonly code: ErrorCode; readonly words: string; readonly options: FaultOptions }> = new Map([
  ['corrupt', { code: 'INTERNAL', words: 'what is kept of this session is damaged and cannot be read', options: { retryable: false } }],
  ['unavailable', { code: 'INTERNAL', words: 'what is kept of this session cannot be reached now; try again', options: { status: 503 } }],
  ['fenced', { code: 'INTERNAL', words: 'this session goes on elsewhere, or has ended; attach again', options: { status: 503 } }],
  ['unknown_session', { code: 'TASK_NOT_FOUND', words: 'there is no such session any more', options: {} }],
]);

/** Any thrown value as a Fault; what was not meant for clients becomes INTERNAL, without its message. */
export function asFault(error: unknown): Fault {
  if (error instanceof Fault) return error;
  const known = told.get((error as { failure?: string } | undefined)?.failure ?? '');
  if (known) return new Fault(known.code, known.words, { ...known.options, cause: error });
  return new Fault('INTERNAL', 'the gateway failed to do this; its log says why', { cause: error });
}
