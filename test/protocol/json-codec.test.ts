// What a client may send as text, what it is told when it sends something else, and what it is sent.
import { Value } from '@sinclair/typebox/value';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Fault } from '../../src/errors.js';
import { MAX_EXTENSIONS, MAX_SERVICE_PARAMETERS_CHARS, serverEnvelopes } from '../../src/protocol/envelope.js';
import { isId, newId } from '../../src/protocol/ids.js';
import { decodeEnvelope, encodeError, encodeFrame, encodeMessage, RequestFault } from '../../src/protocol/json-codec.js';
import { entry } from '../../src/protocol/make-frames.js';
import { EXTENSION_URI } from '../../src/protocol/names.js';
import { MAX_JSON_CHARS, MAX_JSON_DEPTH } from '../../src/protocol/safe-json.js';

const good = { op: 'ListTasks', id: 'any string', payload: {} };
const json = (...members: object[]) => JSON.stringify(Object.assign({}, good, ...members));
const sequence = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER });

/** The fault of a text that must be refused. */
function refusal(text: string): RequestFault {
  try {
    decodeEnvelope(text);
  } catch (error) {
    if (error instanceof RequestFault) return error;
    throw error;
  }
  throw new Error(`accepted: ${text.slice(0, 200)}`);
}

describe('a frame of a client', () => {
  it('comes through as it was sent, whatever its payload', () => {
    const envelopes = fc.record(
      {
        op: fc.string({ minLength: 1, maxLength: 128 }),
        id: fc.string({ minLength: 1, maxLength: 128 }),
        ts: fc.constant('2026-01-01T00:00:00.000Z'),
        payload: fc.dictionary(fc.string(), fc.jsonValue()),
        replay_from: fc.option(fc.maxSafeNat()),
        extensions: fc.array(fc.webUrl({ size: 'small' }), { maxLength: 3 }),
        service_parameters: fc.dictionary(fc.string(), fc.string()),
        something_newer: fc.jsonValue(),
      },
      { requiredKeys: ['op', 'id', 'payload'] },
    );
    fc.assert(
      fc.property(envelopes, (envelope) => {
        const text = JSON.stringify(envelope);
        fc.pre(!text.includes('__proto__'));
        expect(decodeEnvelope(text)).toEqual(JSON.parse(text));
      }),
    );
  });

  it.each([
    ['{', undefined, 'the frame: expected JSON'],
    ['', undefined, 'the frame: expected JSON'],
    ['[]', undefined, 'the frame: expected an object, got an array of 0'],
    ['42', undefined, 'the frame: expected an object, got 42'],
    ['null', undefined, 'the frame: expected an object, got null'],
    ['"x"', undefined, 'the frame: expected an object, got "x"'],
    [json({ op: undefined }), 'any string', 'op: expected a string of 1 to 128 characters, got nothing'],
    [json({ op: 1 }), 'any string', 'op: expected a string of 1 to 128 characters, got 1'],
    [json({ id: undefined }), undefined, 'id: expected a string of 1 to 128 characters, got nothing'],
    [json({ id: '' }), undefined, 'id: expected a string of 1 to 128 characters, got ""'],
    [json({ id: 'x'.repeat(129) }), undefined, 'id: expected a string of 1 to 128 characters, got a string of 129 characters'],
    [json({ payload: undefined }), 'any string', 'payload: expected an object, got nothing'],
    [json({ payload: 'x' }), 'any string', 'payload: expected an object, got "x"'],
    [json({ payload: [] }), 'any string', 'payload: expected an object, got an array of 0'],
    [json({ payload: null }), 'any string', 'payload: expected an object, got null'],
    [json({ sequence: 3 }), 'any string', 'sequence: expected nothing here, got 3'],
    [json({ ts: 1 }), 'any string', 'ts: expected a string of 0 to 64 characters, got 1'],
    [json({ replay_from: -1 }), 'any string', 'replay_from: expected an integer from 0 to 9007199254740991 or null, got -1'],
    [json({ replay_from: 1.5 }), 'any string', 'replay_from: expected an integer from 0 to 9007199254740991 or null, got 1.5'],
    [json({ replay_from: '7' }), 'any string', 'replay_from: expected an integer from 0 to 9007199254740991 or null, got "7"'],
    [
      json({ replay_from: 2 ** 53 }),
      'any string',
      'replay_from: expected an integer from 0 to 9007199254740991 or null, got 9007199254740992',
    ],
    [
      '{"op":"x","id":"y","payload":{},"replay_from":1e999}',
      'y',
      'replay_from: expected an integer from 0 to 9007199254740991 or null, got Infinity',
    ],
    [json({ extensions: 'urn:x' }), 'any string', 'extensions: expected an array of 0 to 16 items, got "urn:x"'],
    [json({ extensions: [1] }), 'any string', 'extensions.0: expected a string of 1 to 256 characters, got 1'],
    [
      json({ extensions: Array(MAX_EXTENSIONS + 1).fill('u') }),
      'any string',
      'extensions: expected an array of 0 to 16 items, got an array of 17',
    ],
    [json({ service_parameters: 'x' }), 'any string', 'service_parameters: expected an object, got "x"'],
    [json({ service_parameters: null }), 'any string', 'service_parameters: expected an object, got null'],
    ['{"op":"x","id":"y","payload":{"a":[{"__proto__":{}}]}}', 'y', 'the frame: expected no member named __proto__'],
    ['{"op":"x","id":"y","payload":{"\\u005f_proto__":{}}}', 'y', 'the frame: expected no member named __proto__'],
  ])('%s is refused, in words', (text, requestId, message) => {
    expect(refusal(text)).toMatchObject({ code: 'INVALID_REQUEST', requestId, message });
  });

  it('is refused for service parameters that are too large to be sent with every task event', () => {
    const text = json({ service_parameters: { trace_id: 'x'.repeat(MAX_SERVICE_PARAMETERS_CHARS) } });
    expect(refusal(text).message).toMatch(/^service_parameters: expected at most 8192 characters of JSON, got 82\d\d$/);
  });

  it('may be nested up to the bound, which brackets in strings do not count for', () => {
    const nested = (depth: number) => `{"op":"x","id":"y","payload":{"a":${'['.repeat(depth - 2)}${']'.repeat(depth - 2)}}}`;
    expect(decodeEnvelope(nested(MAX_JSON_DEPTH)).op).toBe('x');
    expect(refusal(nested(MAX_JSON_DEPTH + 1)).message).toBe('the frame: expected objects and arrays nested at most 64 deep');
    expect(refusal('['.repeat(1_000_000)).message).toMatch(/nested at most 64 deep$/);
    const awkward = fc.string({ unit: fc.constantFrom('"', '\\\\', '[', '}', 'x'), maxLength: 200 });
    fc.assert(
      fc.property(awkward, (text) => {
        expect(decodeEnvelope(json({ payload: { text } })).payload).toEqual({ text });
        expect(refusal(json({ payload: { text } }).replace(/}}$/, `,"a":${'['.repeat(MAX_JSON_DEPTH)}`)).message).toMatch(/64 deep$/);
      }),
    );
  });

  it('is refused unread when it is longer than anything that could be meant', () => {
    expect(refusal(`"${'x'.repeat(MAX_JSON_CHARS)}"`).message).toMatch(/^the frame: expected at most \d+ characters, got \d+$/);
  });

  it('is never answered by anything but a RequestFault, whatever it is', () => {
    const members = fc.constantFrom(
      'op',
      'id',
      'ts',
      'payload',
      'sequence',
      'replay_from',
      'extensions',
      'service_parameters',
      '__proto__',
    );
    const almost = fc.dictionary(members, fc.oneof(fc.jsonValue(), fc.string({ minLength: 1 }), fc.constant({})));
    const texts = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.json(),
      almost.map((value) => JSON.stringify(value)),
    );
    fc.assert(
      fc.property(texts, (text) => {
        try {
          expect(Object.keys(decodeEnvelope(text))).toEqual(expect.arrayContaining(['op', 'id', 'payload']));
        } catch (error) {
          expect(error).toBeInstanceOf(RequestFault);
        }
      }),
      { numRuns: 1000 },
    );
  });
});

describe('a numbered frame', () => {
  it('tells Output as base64 of its bytes, under its own number, id and time', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 300 }),
        sequence,
        fc.date({ min: new Date(0), noInvalidDate: true }),
        (bytes, number, date) => {
          fc.pre(date.getUTCFullYear() < 10_000);
          const frame = { ...entry('Output', bytes, date.getTime()), sequence: number };
          const envelope = JSON.parse(encodeFrame(frame).toString());
          const data = Buffer.from(bytes).toString('base64');
          expect(envelope).toEqual({
            op: 'pty.session_frame',
            id: frame.id,
            ts: date.toISOString(),
            sequence: number,
            payload: { kind: 'Output', stream: 'stdout', data },
          });
          expect(Value.Check(serverEnvelopes['pty.session_frame'], envelope)).toBe(true);
        },
      ),
    );
  });

  it('tells every other kind in the words that the log keeps', () => {
    const label = fc.string({ unit: 'binary' });
    fc.assert(
      fc.property(label, label, (client_id, text) => {
        const members = { controllers: [{ client_id, label: text }], observers: [] };
        const envelope = JSON.parse(encodeFrame({ ...entry('MembershipChanged', members), sequence: 1 }).toString());
        expect(envelope.payload).toEqual({ kind: 'MembershipChanged', ...members });
        expect(Value.Check(serverEnvelopes['pty.session_frame'], envelope)).toBe(true);
      }),
    );
  });

  it('echoes an activation as `extensions`', () => {
    const frame = { ...entry('RoleAssigned', { role: 'controller', client_id: 'c' }), sequence: 1 };
    expect(JSON.parse(encodeFrame(frame, { extensions: [EXTENSION_URI] }).toString()).extensions).toEqual([EXTENSION_URI]);
  });
});

describe('a TaskStatusUpdate', () => {
  const task = { id: 't', contextId: 'c', status: { state: 'TASK_STATE_WORKING' } };
  const frame = { ...entry('TaskStatusUpdate', { task, delta: { taskId: 't', metadata: { trace_id: 'old', kept: 1 } } }), sequence: 9 };

  it('is an op of its own', () => {
    const envelope = JSON.parse(encodeFrame(frame).toString());
    expect(envelope).toMatchObject({
      op: 'TaskStatusUpdate',
      sequence: 9,
      payload: { task, delta: { metadata: { trace_id: 'old', kept: 1 } } },
    });
    expect(Value.Check(serverEnvelopes.TaskStatusUpdate, envelope)).toBe(true);
  });

  it('carries the service parameters of its receiver on the envelope and over the metadata of the delta', () => {
    const envelope = JSON.parse(encodeFrame(frame, { service_parameters: { trace_id: 'né' } }).toString());
    expect(envelope.service_parameters).toEqual({ trace_id: 'né' });
    expect(envelope.payload).toEqual({ task, delta: { taskId: 't', metadata: { trace_id: 'né', kept: 1 } } });
    expect(Value.Check(serverEnvelopes.TaskStatusUpdate, envelope)).toBe(true);
  });
});

describe('a message of the server', () => {
  it('has a fresh id and the time, and a sequence only if it is given one', () => {
    const message = JSON.parse(encodeMessage('binding_goodbye', { reason: 'server_shutdown' }));
    expect(Object.keys(message)).toEqual(['op', 'id', 'ts', 'payload']);
    expect(isId(message.id)).toBe(true);
    expect(Value.Check(serverEnvelopes.binding_goodbye, message)).toBe(true);
  });

  it('answers under the id of the request', () => {
    const pong = JSON.parse(encodeMessage('pong', { server_ts: new Date().toISOString() }, { id: 'any string' }));
    expect(pong.id).toBe('any string');
    expect(Value.Check(serverEnvelopes.pong, pong)).toBe(true);
  });

  it('says as an Error which request failed, and why', () => {
    const error = JSON.parse(encodeError(new Fault('PERMISSION_DENIED', 'observers may not type'), 'r1'));
    const payload = {
      code: 'PERMISSION_DENIED',
      message: 'observers may not type',
      a2a_error: { type: 'PermissionDenied' },
      retryable: false,
    };
    expect(error).toMatchObject({ op: 'Error', id: 'r1', payload });
    expect(Value.Check(serverEnvelopes.Error, error)).toBe(true);
  });

  it('takes the id of an Error from its fault, or else a fresh one', () => {
    expect(JSON.parse(encodeError(new RequestFault('INVALID_REQUEST', 'no', 'from the text'))).id).toBe('from the text');
    expect(isId(JSON.parse(encodeError(new RequestFault('INVALID_REQUEST', 'no'))).id)).toBe(true);
  });
});

describe('an id of ours', () => {
  it('is a UUIDv7, unlike any other, that sorts after those before it', () => {
    const ids = Array.from({ length: 1000 }, newId);
    expect(ids.every(isId)).toBe(true);
    expect([...new Set(ids)].sort()).toEqual(ids);
  });

  it.each(['', 'any string', '9b2f6c1e-3d1a-4b7e-8f00-0123456789ab', '00000000-0000-0000-0000-000000000000'])('is not %j', (text) => {
    expect(isId(text)).toBe(false);
  });
});
