// From a verb to the session, with the permission checked in this one place. Knows no socket and no log.
import { type Asker, operations } from '../a2a/websocket-operations.js';
import { may, type Principal, type Scope } from '../access/principal.js';
import type { AuditEvent, AuditLine } from '../audit/audit.js';
import { asFault, type ErrorCode, Fault } from '../errors.js';
import type { ClientEnvelope } from '../protocol/envelope.js';
import { checkPayload } from '../protocol/json-codec.js';
import { CORE_OPERATIONS, EXTENSION_URI, type Op, PRESENCE_URI, PTY_OPERATIONS } from '../protocol/names.js';
import type { Payload } from '../protocol/verbs.js';
import { isAnswer } from '../session/answer-filter.js';
import type { Reply } from './inbox.js';

/** A connection, as its verbs see it. */
export interface Caller extends Asker {
  readonly principal: Principal;
  /** Whether an extension was activated (pty-ext §1). */
  hasActivated(extension: string): boolean;
  /** Set while joined. */
  readonly clientId: string | undefined;
  join(payload: Payload<'pty.join_session'>, envelope: ClientEnvelope): Promise<void>;
  leave(): Promise<void>;
  /** Types into the session, under its own name. */
  type(bytes: Uint8Array): Promise<void>;
  setServiceParameters(parameters: Readonly<Record<string, unknown>>): void;
  /** What its terminal answers by itself was refused: it was answered here, so nothing is missing. */
  answered(): void;
  record(event: AuditEvent, outcome: AuditLine['outcome'], detail?: string): void;
}

interface Rule<O extends Op> {
  readonly scope: Scope;
  readonly needsJoin?: true;
  /** Later requests of the connection wait until it is done. */
  readonly isTurn?: true;
  /** Comes with every keystroke, or to see whether anybody is there: no span is made of it. */
  readonly isFrequent?: true;
  readonly audit?: AuditEvent;
  /** Tells the audit of refusals alone: what is granted is told where it takes effect. */
  readonly auditsRefusals?: AuditEvent;
  run(caller: Caller, payload: Payload<O>, reply: Reply, envelope: ClientEnvelope): Promise<void>;
}

type Rules = { readonly [O in Op]: Rule<O> };

const rules: Rules = {
  ...coreRules(),
  UpdateServiceParameters: {
    scope: 'pty:observe',
    async run(caller, { service_parameters }, reply) {
      caller.setServiceParameters(service_parameters);
      reply('UpdateServiceParameters.Response', {});
    },
  },
  ping: {
    scope: 'pty:observe',
    isFrequent: true,
    async run(_, { client_ts }, reply) {
      reply('pong', { client_ts, server_ts: new Date().toISOString() });
    },
  },
  'pty.join_session': {
    scope: 'pty:observe',
    isTurn: true,
    auditsRefusals: 'attach',
    run: (caller, payload, _, envelope) => caller.join(payload, envelope),
  },
  'pty.leave_session': { scope: 'pty:observe', needsJoin: true, isTurn: true, run: (caller) => caller.leave() },
  'pty.session_input': {
    scope: 'pty:control',
    isFrequent: true,
    needsJoin: true,
    auditsRefusals: 'input_denied',
    run: (caller, { data }) => caller.type(Buffer.from(data, 'base64')),
  },
  'pty.session_resize': {
    scope: 'pty:control',
    needsJoin: true,
    auditsRefusals: 'resize_denied',
    run: (caller, { cols, rows }) => caller.session.resize(memberOf(caller), { cols, rows }),
  },
  'pty.request_role': {
    scope: 'pty:observe',
    needsJoin: true,
    auditsRefusals: 'role',
    run: (caller, { role }) => caller.session.requestRole(memberOf(caller), role),
  },
  'pty.request_keyframe': {
    scope: 'pty:observe',
    needsJoin: true,
    audit: 'keyframe_request',
    run: (caller) => caller.session.requestKeyframe(memberOf(caller)),
  },
  'presence.act': {
    scope: 'pty:control',
    needsJoin: true,
    audit: 'role',
    async run(caller, { act, client_id }, reply) {
      await caller.session.presence(memberOf(caller), act, client_id);
      reply('presence.act.Response', {});
    },
  },
};

/** Does what an envelope asks; the session is called in the turn of this call. Rejects with the Fault that the client is told. */
export async function perform(caller: Caller, envelope: ClientEnvelope, reply: Reply): Promise<void> {
  const { op } = envelope;
  const rule = ruleOf(op);
  await audited(caller, { rule, op, input: inputIn(envelope) }, async (done) => {
    requireActivation(caller, op);
    const payload = checkPayload(op, envelope.payload);
    requireOwnSession(caller, payload.session_id);
    requirePermission(caller, rule, op);
    const answer: Reply = (what, told) => {
      done();
      reply(what, told);
    };
    await rule.run(caller, payload as never, answer, envelope);
  });
}

/** Types the bytes of a binary frame (pty-ws §3.1), under the same rule as `pty.session_input`. */
export async function performInput(caller: Caller, bytes: Uint8Array): Promise<void> {
  const op = 'pty.session_input';
  await audited(caller, { rule: rules[op], op, input: bytes }, async () => {
    requireActivation(caller, op);
    requirePermission(caller, rules[op], op);
    await caller.type(bytes);
  });
}

/** What the principal's token allows of the operations that a hello names. */
export function operationsFor(principal: Principal): Op[] {
  return [...CORE_OPERATIONS, ...PTY_OPERATIONS].filter((op) => may(principal, rules[op].scope));
}

/** Whether later requests of a connection wait until this one is done. */
export function isTurn(op: string): boolean {
  return Object.hasOwn(rules, op) && rules[op as Op].isTurn === true;
}

/** Whether a request of a connection is a span. */
export function isTraced(op: string): boolean {
  return Object.hasOwn(rules, op) && rules[op as Op].isFrequent !== true;
}

/** An unknown operation is refused by the check of its payload. */
function ruleOf(op: string): Rule<Op> {
  return Object.hasOwn(rules, op) ? (rules[op as Op] as Rule<Op>) : { scope: 'pty:observe', run: async () => {} };
}

/** What an envelope would type, whether it may or not. */
function inputIn({ op, payload }: ClientEnvelope): Uint8Array | undefined {
  return op === 'pty.session_input' && typeof payload.data === 'string' ? Buffer.from(payload.data, 'base64') : undefined;
}

interface Audited {
  readonly rule: Pick<Rule<Op>, 'audit' | 'auditsRefusals'>;
  readonly op: string;
  readonly input: Uint8Array | undefined;
}

/** What was asked for is told once: when it is answered, when it is done without an answer, or when it is refused. */
async function audited(caller: Caller, { rule, op, input }: Audited, act: (done: () => void) => Promise<void>): Promise<void> {
  let isTold = false;
  const done = () => {
    if (rule.audit && !isTold) caller.record(rule.audit, 'done', op);
    isTold = true;
  };
  try {
    await act(done);
    done();
  } catch (error) {
    const { code } = asFault(error);
    const event = rule.audit ?? rule.auditsRefusals;
    // What an observer's terminal answers by itself was typed by nobody.
    if (input && isAnswer(input)) caller.answered();
    else if (event) caller.record(event, isDenial(code) ? 'denied' : 'failed', `${op}: ${code}`);
    throw error;
  }
}

const isDenial = (code: ErrorCode): boolean => code === 'PERMISSION_DENIED' || code === 'RATE_LIMITED';

function requirePermission(caller: Caller, { scope, needsJoin }: Pick<Rule<Op>, 'scope' | 'needsJoin'>, op: string): void {
  if (!may(caller.principal, scope)) throw new Fault('PERMISSION_DENIED', `${op} needs the scope ${scope}`);
  if (needsJoin && caller.clientId === undefined) throw new Fault('PERMISSION_DENIED', `${op}: join the session first`);
}

/** By the family of its operations: what each extension is called, and its URI. */
const extensions = [
  { family: 'pty.', name: 'pty-extensions/v1', uri: EXTENSION_URI },
  { family: 'presence.', name: PRESENCE_URI, uri: PRESENCE_URI },
] as const;

function requireActivation(caller: Caller, op: string): void {
  const needed = extensions.find(({ family }) => op.startsWith(family));
  if (!needed || caller.hasActivated(needed.uri)) return;
  throw new Fault(
    'UNSUPPORTED_OPERATION',
    `${op}: ${needed.name} was not activated, neither by the upgrade request nor by the first frame`,
  );
}

/** One session a connection (pty-ws §11). */
function requireOwnSession(caller: Caller, sessionId: string | undefined): void {
  if (sessionId === undefined || sessionId === caller.session.id) return;
  throw new Fault('INVALID_REQUEST', `payload.session_id: this connection belongs to the session ${caller.session.id}`);
}

function memberOf({ clientId }: Caller): string {
  if (clientId === undefined) throw new Fault('PERMISSION_DENIED', 'join the session first');
  return clientId;
}

/** The A2A operations: reading a task is for observers, writing to it for those who may control (pty-ws §7). */
function coreRules(): Pick<Rules, (typeof CORE_OPERATIONS)[number] | 'Unsubscribe'> {
  const rule = <O extends keyof typeof operations>(op: O, scope: Scope, audit: AuditEvent): Rule<O> => ({
    scope,
    audit,
    run: (caller, payload, reply, envelope) =>
      operations[op](
        caller,
        payload,
        (what, answer) => reply(`${op}.${what}` as Parameters<Reply>[0], answer),
        envelope.replay_from ?? undefined,
      ),
  });
  return {
    SendMessage: rule('SendMessage', 'pty:control', 'message'),
    SendStreamingMessage: rule('SendStreamingMessage', 'pty:control', 'message'),
    CancelTask: rule('CancelTask', 'pty:control', 'message'),
    GetTask: rule('GetTask', 'pty:observe', 'task_read'),
    ListTasks: rule('ListTasks', 'pty:observe', 'task_read'),
    SubscribeToTask: rule('SubscribeToTask', 'pty:observe', 'task_read'),
    Unsubscribe: rule('Unsubscribe', 'pty:observe', 'task_read'),
  };
}
