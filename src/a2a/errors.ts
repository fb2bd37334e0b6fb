// One table of what can go wrong in A2A, for all its bindings (A2A 1.0 §3.3.2, §5.4). Knows no request.
import { asFault, type ErrorCode, Fault } from '../errors.js';

interface ErrorRow {
  readonly jsonrpc: number;
  readonly http: number;
  /** google.rpc.Code. */
  readonly status: string;
}

/** A2A's own errors, by the reason that their ErrorInfo names. */
const a2aErrors = {
  TASK_NOT_FOUND: { jsonrpc: -32001, http: 404, status: 'NOT_FOUND' },
  TASK_NOT_CANCELABLE: { jsonrpc: -32002, http: 400, status: 'FAILED_PRECONDITION' },
  PUSH_NOTIFICATION_NOT_SUPPORTED: { jsonrpc: -32003, http: 400, status: 'FAILED_PRECONDITION' },
  UNSUPPORTED_OPERATION: { jsonrpc: -32004, http: 400, status: 'FAILED_PRECONDITION' },
  CONTENT_TYPE_NOT_SUPPORTED: { jsonrpc: -32005, http: 400, status: 'INVALID_ARGUMENT' },
  INVALID_AGENT_RESPONSE: { jsonrpc: -32006, http: 500, status: 'INTERNAL' },
  EXTENDED_AGENT_CARD_NOT_CONFIGURED: { jsonrpc: -32007, http: 400, status: 'FAILED_PRECONDITION' },
  EXTENSION_SUPPORT_REQUIRED: { jsonrpc: -32008, http: 400, status: 'FAILED_PRECONDITION' },
  VERSION_NOT_SUPPORTED: { jsonrpc: -32009, http: 400, status: 'FAILED_PRECONDITION' },
} as const satisfies Record<string, ErrorRow>;

/** What JSON-RPC 2.0 §5.1 names; INVALID_REQUEST of the wire is its "Invalid params". */
const rpcErrors = {
  PARSE_ERROR: { jsonrpc: -32700, http: 400, status: 'INVALID_ARGUMENT' },
  INVALID_ENVELOPE: { jsonrpc: -32600, http: 400, status: 'INVALID_ARGUMENT' },
  METHOD_NOT_FOUND: { jsonrpc: -32601, http: 404, status: 'UNIMPLEMENTED' },
} as const satisfies Record<string, ErrorRow>;

/** The rest of the codes of the wire. JSON-RPC leaves one number to servers that A2A does not claim: they share it, told apart by their reason. */
const wireErrors = {
  INVALID_REQUEST: { jsonrpc: -32602, http: 400, status: 'INVALID_ARGUMENT' },
  REPLAY_OUT_OF_RANGE: { jsonrpc: -32602, http: 416, status: 'OUT_OF_RANGE' },
  UNAUTHENTICATED: { jsonrpc: -32000, http: 401, status: 'UNAUTHENTICATED' },
  PERMISSION_DENIED: { jsonrpc: -32000, http: 403, status: 'PERMISSION_DENIED' },
  RATE_LIMITED: { jsonrpc: -32000, http: 429, status: 'RESOURCE_EXHAUSTED' },
  INTERNAL: { jsonrpc: -32603, http: 500, status: 'INTERNAL' },
} as const satisfies Partial<Record<ErrorCode, ErrorRow>>;

const table: Readonly<Record<string, ErrorRow>> = { ...a2aErrors, ...rpcErrors, ...wireErrors };

export type A2aReason = keyof typeof a2aErrors | keyof typeof rpcErrors;

/** The codes of the wire for errors that A2A alone names. */
const wireCodes: Partial<Record<A2aReason, ErrorCode>> = {
  TASK_NOT_FOUND: 'TASK_NOT_FOUND',
  TASK_NOT_CANCELABLE: 'TASK_NOT_CANCELABLE',
  INVALID_AGENT_RESPONSE: 'INTERNAL',
  CONTENT_TYPE_NOT_SUPPORTED: 'INVALID_REQUEST',
  PARSE_ERROR: 'INVALID_REQUEST',
  INVALID_ENVELOPE: 'INVALID_REQUEST',
};

/** A Fault for which A2A has a name of its own. */
export class A2aFault extends Fault {
  readonly reason: A2aReason;

  /** `status` where HTTP's differs from the table's. */
  constructor(reason: A2aReason, message: string, options: { readonly status?: number; readonly cause?: unknown } = {}) {
    const status = options.status ?? table[reason]?.http;
    super(wireCodes[reason] ?? 'UNSUPPORTED_OPERATION', message, { ...options, ...(status !== undefined && { status }) });
    this.reason = reason;
  }
}

/** One member of a request that is not as it should be. */
export interface Violation {
  /** As `message.parts.0.text`. */
  readonly field: string;
  readonly description: string;
}

/** INVALID_REQUEST that names each member that is wrong. */
export function violated(violations: readonly Violation[]): Fault {
  const message = violations.map(({ field, description }) => `${field}: ${description}`).join('; ');
  return new Fault('INVALID_REQUEST', message, { details: { violations } });
}

/** A failure as every binding tells it. */
export interface Told {
  readonly message: string;
  readonly jsonrpc: number;
  readonly http: number;
  readonly status: string;
  /** google.rpc details, each with its `@type`. */
  readonly details: readonly object[];
}

const TYPE = 'type.googleapis.com/google.rpc';
/** Whose reasons they are: A2A's, and those of `pty-ws/v1`. */
const A2A_DOMAIN = 'a2a-protocol.org';
const OWN_DOMAIN = 'agentic-sandbox.aiwg.io';

/** Whatever was thrown, in A2A's words; never a stack. */
export function tell(error: unknown): Told {
  const fault = asFault(error);
  const reason = fault instanceof A2aFault ? fault.reason : reasonOf(fault);
  const row = table[reason] ?? wireErrors.INTERNAL;
  const http = isSpecial(fault) ? fault.status : row.http;
  return {
    message: fault.message,
    jsonrpc: row.jsonrpc,
    http,
    status: http === 503 ? 'UNAVAILABLE' : row.status,
    details: details(fault, reason),
  };
}

/** The wire has no code for a part that cannot be typed: what it is stands in the details. */
function reasonOf({ code, details: more }: Fault): string {
  return more?.reason === 'CONTENT_TYPE_NOT_SUPPORTED' ? more.reason : code;
}

/** A status that the table does not know: the body is too large, another Content-Type was expected, try again later. */
function isSpecial({ status }: Fault): boolean {
  return [413, 415, 422, 503].includes(status);
}

function details(fault: Fault, reason: string): object[] {
  if (reason === 'INVALID_REQUEST') return [{ '@type': `${TYPE}.BadRequest`, fieldViolations: violationsOf(fault) }];
  if (reason in rpcErrors) return [];
  const { reason: finer, ...metadata } = texts(fault.details);
  const first = errorInfo(reason, reason in a2aErrors ? A2A_DOMAIN : OWN_DOMAIN, finer === undefined || finer === reason ? metadata : {});
  return finer === undefined || finer === reason ? [first] : [first, errorInfo(finer, OWN_DOMAIN, metadata)];
}

function errorInfo(reason: string, domain: string, metadata: Record<string, string>): object {
  return { '@type': `${TYPE}.ErrorInfo`, reason, domain, ...(Object.keys(metadata).length > 0 && { metadata }) };
}

/** Messages of the wire begin with the member that is wrong. */
function violationsOf({ message, details: more }: Fault): readonly Violation[] {
  if (Array.isArray(more?.violations)) return more.violations;
  const [, field = '', description = message] = /^([A-Za-z][\w.-]*): (.+)$/s.exec(message) ?? [];
  return [{ field, description }];
}

function texts(more: Record<string, unknown> = {}): Record<string, string> {
  const entries = Object.entries(more).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  return Object.fromEntries(entries);
}
