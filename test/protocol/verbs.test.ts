// What may stand in the payload of each operation, and how a client is told what may not.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Fault } from '../../src/errors.js';
import { checkPayload } from '../../src/protocol/json-codec.js';
import { isOp, verbs } from '../../src/protocol/verbs.js';

const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'ls' }] };

function refusal(op: string, payload: Record<string, unknown>): { code: string; message: string } {
  try {
    checkPayload(op, payload);
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
  throw new Error(`accepted: ${op} ${JSON.stringify(payload)}`);
}

describe('the payload of an operation', () => {
  it.each([
    ['SendMessage', { message, configuration: { returnImmediately: true, acceptedOutputModes: ['text/plain'] } }],
    ['SendStreamingMessage', { message: { ...message, contextId: 'c', taskId: 't', metadata: {} } }],
    ['GetTask', { task_id: 't', history_length: 0 }],
    ['ListTasks', {}],
    ['CancelTask', { task_id: 't' }],
    ['SubscribeToTask', { task_id: 't' }],
    ['Unsubscribe', { task_id: 't' }],
    ['UpdateServiceParameters', { service_parameters: { trace_id: '00-1-2-01' } }],
    ['ping', { client_ts: '2026-01-01T00:00:00.000Z' }],
    [
      'pty.join_session',
      { role: 'observer', cols: 1, rows: 1024, client_label: 'bob', terminal_size: { cols: 80, rows: 24 }, session_backend: 'native' },
    ],
    ['pty.leave_session', {}],
    ['pty.session_input', { data: 'ZXhpdAo=' }],
    ['pty.session_resize', { cols: 80, rows: 24 }],
    ['pty.request_role', { role: 'controller' }],
    ['pty.request_keyframe', {}],
  ])('%s is taken, also with its session and with members of a later version', (op, payload) => {
    const given = { ...payload, session_id: 's', newer: [1] };
    expect(checkPayload(op, given)).toEqual(given);
  });

  it.each([
    ['pty.session_input', {}, 'payload.data: expected base64 (RFC 4648 §4, padded, without white space), got nothing'],
    ['pty.session_input', { data: null }, 'payload.data: expected base64 (RFC 4648 §4, padded, without white space), got null'],
    ['pty.session_input', { data: 5 }, 'payload.data: expected base64 (RFC 4648 §4, padded, without white space), got 5'],
    [
      'pty.session_input',
      { data: '***' },
      'payload.data: expected base64 (RFC 4648 §4, padded, without white space), got a string of 3 characters',
    ],
    ['pty.session_resize', { cols: 0, rows: 10 }, 'payload.cols: expected an integer from 1 to 1024, got 0'],
    ['pty.session_resize', { cols: 80.5, rows: 10 }, 'payload.cols: expected an integer from 1 to 1024, got 80.5'],
    ['pty.session_resize', { cols: 1e9, rows: 10 }, 'payload.cols: expected an integer from 1 to 1024, got 1000000000'],
    ['pty.session_resize', { cols: 80, rows: 1025 }, 'payload.rows: expected an integer from 1 to 1024, got 1025'],
    ['pty.session_resize', { cols: 80 }, 'payload.rows: expected an integer from 1 to 1024, got nothing'],
    ['pty.session_resize', { cols: '80', rows: 10 }, 'payload.cols: expected an integer from 1 to 1024, got "80"'],
    ['pty.request_role', { role: 'king' }, 'payload.role: expected "controller" or "observer", got "king"'],
    ['pty.join_session', {}, 'payload.role: expected "controller" or "observer", got nothing'],
    [
      'pty.join_session',
      { role: 'observer', client_label: 'x'.repeat(129) },
      'payload.client_label: expected a string of 0 to 128 characters, got a string of 129 characters',
    ],
    [
      'pty.join_session',
      { role: 'observer', terminal_size: { cols: 80 } },
      'payload.terminal_size.rows: expected an integer from 1 to 1024, got nothing',
    ],
    ['pty.leave_session', { session_id: 7 }, 'payload.session_id: expected a string of 1 to 128 characters, got 7'],
    ['SendMessage', {}, 'payload.message: expected an object, got nothing'],
    [
      'SendMessage',
      { message: { ...message, parts: [] } },
      'payload.message.parts: expected an array of 1 to 256 items, got an array of 0',
    ],
    ['SendMessage', { message: { ...message, parts: ['ls'] } }, 'payload.message.parts.0: expected an object, got "ls"'],
    [
      'SendMessage',
      { message, configuration: { returnImmediately: 1 } },
      'payload.configuration.returnImmediately: expected a boolean, got 1',
    ],
    ['GetTask', { task_id: '' }, 'payload.task_id: expected a string of 1 to 128 characters, got ""'],
    ['ListTasks', { page_size: 101 }, 'payload.page_size: expected an integer from 1 to 100, got 101'],
    [
      'UpdateServiceParameters',
      { service_parameters: { a: 'x'.repeat(9000) } },
      'payload.service_parameters: expected at most 8192 characters of JSON, got 9008',
    ],
  ])('%s %j is refused, naming the member', (op, payload, text) => {
    expect(refusal(op, payload)).toMatchObject({ code: 'INVALID_REQUEST', message: text });
  });

  it('may have null for what it may leave out', () => {
    expect(checkPayload('ListTasks', { page_size: 10, page_token: null, filter: null })).toEqual({ page_size: 10 });
    expect(checkPayload('pty.join_session', { role: 'observer', cols: null, rows: 24 })).toEqual({ role: 'observer', rows: 24 });
    const nested = { message: { ...message, taskId: null }, configuration: null };
    expect(checkPayload('SendMessage', nested)).toEqual({ message });
    const free = { service_parameters: { trace_id: null } };
    expect(checkPayload('UpdateServiceParameters', free)).toEqual(free);
  });

  it('carries any bytes as base64, and nothing else', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        const data = Buffer.from(bytes).toString('base64');
        expect(checkPayload('pty.session_input', { data })).toEqual({ data });
      }),
    );
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1 }), fc.nat(), fc.constantFrom(' ', '\n', '*', '-', '_', 'é', '='), (bytes, at, odd) => {
        const data = Buffer.from(bytes).toString('base64');
        const place = at % (data.length - 3);
        refusal('pty.session_input', { data: `${data.slice(0, place)}${odd}${data.slice(place + 1)}` });
      }),
    );
    for (const data of ['QQ', 'QQ=', 'QUJD=', '=', '====', 'Q===', 'QQ==QQ==']) refusal('pty.session_input', { data });
  });

  it('does not come back in a message, where it was to be typed', () => {
    expect(refusal('pty.session_input', { data: 'my password' }).message).not.toContain('password');
  });

  it('is checked without a stack as deep as it is long', () => {
    expect(() => checkPayload('pty.session_input', { data: 'A'.repeat(16 * 1024 * 1024) })).not.toThrow();
  });
});

describe('an operation', () => {
  it.each(['Frobnicate', 'pty.frobnicate', 'CreateTaskPushNotificationConfig', 'constructor', '__proto__', 'toString', ''])(
    '%j is unknown',
    (op) => {
      expect(isOp(op)).toBe(false);
      expect(refusal(op, {})).toMatchObject({
        code: 'UNSUPPORTED_OPERATION',
        message: `op: there is no operation ${JSON.stringify(op)} here`,
      });
    },
  );

  it('never fails but with a Fault, whatever its payload', () => {
    const payloads = fc.dictionary(fc.oneof(fc.string(), fc.constantFrom('role', 'data', 'cols', 'message', 'task_id')), fc.jsonValue());
    fc.assert(
      fc.property(fc.constantFrom(...Object.keys(verbs)), payloads, (op, payload) => {
        try {
          checkPayload(op, payload);
        } catch (error) {
          expect(error).toMatchObject({
            name: 'Fault',
            code: 'INVALID_REQUEST',
            message: expect.stringMatching(/^payload\..+: expected .+, got .+/),
          });
        }
      }),
      { numRuns: 500 },
    );
  });
});
