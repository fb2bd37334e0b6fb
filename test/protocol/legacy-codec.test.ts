// The dialect of the reference implementation: what it makes of any frame of ours, what ours are made of any of its requests, and whom it is for.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { errorTable, Fault } from '../../src/errors.js';
import { decodeEnvelope, RequestFault } from '../../src/protocol/json-codec.js';
import { legacyCodec } from '../../src/protocol/legacy-codec.js';
import { isLegacyRequest } from '../../src/protocol/legacy-requests.js';
import { entry, type Unnumbered } from '../../src/protocol/make-frames.js';
import { CORE_OPERATIONS, EXTENSION_URI, OTHER_OPERATIONS, PTY_OPERATIONS } from '../../src/protocol/names.js';

const side = fc.integer({ min: 1, max: 1024 });
const size = fc.record({ cols: side, rows: side });
const member = fc.record({ client_id: fc.uuid() });
const bytes = fc.uint8Array({ maxLength: 200 });
const base64 = (data: Uint8Array) => Buffer.from(data).toString('base64');

const frames: fc.Arbitrary<Unnumbered> = fc.oneof(
  bytes.map((data) => entry('Output', data)),
  size.map((of) => entry('Resize', of)),
  fc.uuid().map((client_id) => entry('RoleAssigned', { role: 'observer', client_id, downgraded: true, reason: 'full' })),
  fc.record({ controllers: fc.array(member), observers: fc.array(member) }).map((members) => entry('MembershipChanged', members)),
  fc.tuple(bytes, size).map(([data, { cols, rows }]) =>
    entry('Keyframe', {
      snapshot: base64(data),
      snapshot_format: 'vt100-screen-state-v1',
      snapshot_cols: cols,
      snapshot_rows: rows,
      anchor_sequence: 0,
    }),
  ),
  fc.option(fc.integer({ min: 0, max: 255 })).map((exit_code) => entry('Closed', { exit_code, reason: 'command_result' })),
  fc.string().map((message) => entry('Error', { code: 'PTY_OUTPUT_LAGGED', message })),
  fc
    .constantFrom('TASK_STATE_WORKING', 'TASK_STATE_INPUT_REQUIRED')
    .map((state) => entry('TaskStatusUpdate', { task: { id: 't', contextId: 'c', status: { state } }, delta: {} })),
);
const sequences = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER });

describe('a frame of a session', () => {
  it('has an op in lower case, no id, and one number at most: none where it is no place to go on from', () => {
    fc.assert(
      fc.property(frames, sequences, (frame, sequence) => {
        const told = JSON.parse(Buffer.from(legacyCodec.frame({ ...frame, sequence })).toString());
        expect(told.op).toMatch(/^(output|resize|role_assigned|membership_changed|keyframe|closed|error|task)$/);
        expect(Object.keys(told).sort()).toEqual(
          ['RoleAssigned', 'Error'].includes(frame.kind) ? ['op', 'payload', 'ts'] : ['op', 'payload', 'seq', 'ts'],
        );
        expect(told.seq ?? sequence).toBe(sequence);
        expect(told.payload).not.toHaveProperty('kind', frame.kind);
      }),
    );
  });

  it('brings what a program printed byte for byte, and a Keyframe as a size and its picture', () => {
    fc.assert(
      fc.property(bytes, sequences, (data, sequence) => {
        const told = JSON.parse(Buffer.from(legacyCodec.frame({ ...entry('Output', data), sequence })).toString());
        expect(told.payload).toEqual({ data: base64(data) });
      }),
    );
    const picture = {
      snapshot: 'eA==',
      snapshot_format: 'vt100-screen-state-v1',
      snapshot_cols: 80,
      snapshot_rows: 24,
      anchor_sequence: 6,
    } as const;
    expect(JSON.parse(Buffer.from(legacyCodec.frame({ ...entry('Keyframe', picture), sequence: 7 })).toString()).payload).toEqual({
      cursor: 7,
      frames: [
        { op: 'resize', payload: { cols: 80, rows: 24 } },
        { op: 'output', payload: { data: 'eA==' } },
      ],
    });
  });
});

describe('a fault', () => {
  it.each(Object.keys(errorTable) as Array<keyof typeof errorTable>)('%s has a name of its own there, and no number', (code) => {
    const told = JSON.parse(legacyCodec.error(new Fault(code, 'why')));
    expect(told).toMatchObject({ op: 'error', payload: { code: expect.stringMatching(/^[a-z_.]+$/), message: 'why' } });
    expect(told).not.toHaveProperty('seq');
  });
});

describe('what goes wrong at the terminal', () => {
  it.each([
    ['PTY_OUTPUT_LAGGED', 'broadcast.lagged'],
    ['PTY_WRITE_FAILED', 'pty.write_failed'],
    ['KEYFRAME_UNAVAILABLE', 'keyframe.unavailable'],
  ])('%s is told as %s', (code, told) => {
    const frame = { ...entry('Error', { code, message: 'why' }), sequence: 9 };
    expect(JSON.parse(Buffer.from(legacyCodec.frame(frame)).toString()).payload).toEqual({ code: told, message: 'why', status: 200 });
  });
});

describe('the end of a connection', () => {
  it('is a close code alone; that of a shutdown is not 1000, which means that the session is over', () => {
    expect(legacyCodec.goodbye('server_shutdown', 1000)).toEqual({ text: undefined, code: 1001 });
    expect(legacyCodec.goodbye('session_closed', 1000)).toEqual({ text: undefined, code: 1000 });
    expect(legacyCodec.goodbye('principal_revoked', 4401)).toEqual({ text: undefined, code: 4401 });
  });
});

const theirOps = [
  'message/send',
  'message/stream',
  'tasks/get',
  'tasks/list',
  'tasks/cancel',
  'tasks/subscribe',
  'pty.release_role',
  ...PTY_OPERATIONS,
];

describe('a request', () => {
  it('becomes envelopes that pty-ws/v1 takes, or is refused with a reason, whatever it is', () => {
    const requests = fc.record(
      { op: fc.oneof(fc.constantFrom(...theirOps), fc.jsonValue()), payload: fc.jsonValue() },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(requests, (request) => {
        try {
          for (const envelope of legacyCodec.decode(JSON.stringify(request)))
            expect(decodeEnvelope(JSON.stringify(envelope))).toEqual(envelope);
        } catch (error) {
          if (!(error instanceof RequestFault)) throw error;
        }
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    ['{"op":"pty.join_session"}', [['pty.join_session', { role: 'controller' }]]],
    ['{"op":"pty.join_session","payload":{"role":"observer"}}', [['pty.join_session', { role: 'observer' }]]],
    ['{"op":"pty.request_role","payload":{}}', [['pty.request_role', { role: 'observer' }]]],
    ['{"op":"pty.release_role","payload":{}}', [['pty.request_role', { role: 'observer' }]]],
    ['{"op":"pty.session_input","payload":{"terminal_size":{"cols":9,"rows":8}}}', [['pty.session_resize', { cols: 9, rows: 8 }]]],
    [
      '{"op":"tasks/list","payload":{"limit":500,"state":"input-required"}}',
      [['ListTasks', { page_size: 100, filter: { state: 'TASK_STATE_INPUT_REQUIRED' } }]],
    ],
  ])('%s asks for %j', (text, asked) => {
    const envelopes = legacyCodec.decode(text);
    expect(envelopes.map(({ op, payload }) => [op, payload])).toEqual(asked);
    expect(envelopes.map(({ extensions }) => extensions)).toEqual(asked.map(() => [EXTENSION_URI]));
  });
});

describe('a first frame, and those after it,', () => {
  const ts = '2026-01-01T00:00:00+00:00';
  const size = { cols: 80, rows: 24 };

  it.each([
    [
      'sandboxctl',
      [
        { op: 'pty.join_session', ts, payload: { role: 'observer', client_label: 'sandboxctl', ...size } },
        { op: 'pty.session_resize', ts, payload: size },
        { op: 'pty.session_input', ts, payload: { data: 'aGk=' } },
        { op: 'pty.leave_session', ts, payload: {} },
      ],
    ],
    [
      'Cockpit, which leaves out the time, and the payload where there is none',
      [
        { op: 'pty.join_session', payload: { role: 'controller', replay_from: 17 } },
        { op: 'pty.session_resize', payload: size },
        { op: 'pty.session_input', payload: { data: 'aGk=' } },
        { op: 'pty.request_keyframe' },
      ],
    ],
  ])('as they come from %s, are understood', (_who, said) => {
    const texts = said.map((each) => JSON.stringify(each));
    expect(isLegacyRequest(texts[0] as string)).toBe(true);
    const asked = texts.flatMap((text) => legacyCodec.decode(text));
    expect(asked.map(({ op, payload }) => ({ op, payload }))).toMatchObject(said.map(({ op, payload = {} }) => ({ op, payload })));
  });
});

describe('whom it is for', () => {
  const ourOps = [...CORE_OPERATIONS, ...PTY_OPERATIONS, ...OTHER_OPERATIONS];

  it('is nobody whose first frame is an envelope of pty-ws/v1, of any operation', () => {
    const envelopes = fc.record({
      op: fc.constantFrom(...ourOps),
      id: fc.string({ minLength: 1 }),
      payload: fc.dictionary(fc.string(), fc.jsonValue()),
    });
    fc.assert(
      fc.property(envelopes, (envelope) => {
        expect(isLegacyRequest(JSON.stringify(envelope))).toBe(false);
      }),
    );
  });

  it('is nobody whose first frame is anything but an object with an operation', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.jsonValue().map((value) => JSON.stringify(value)),
        ),
        (text) => {
          fc.pre(!text.includes('"op"'));
          expect(isLegacyRequest(text)).toBe(false);
        },
      ),
    );
  });

  it('is everyone who asks in its operations, with an id or without, or joins without one', () => {
    for (const op of theirOps) expect(isLegacyRequest(JSON.stringify({ op, ts: 'now', payload: {} }))).toBe(true);
    expect(isLegacyRequest(JSON.stringify({ op: 'tasks/list', id: 'x', payload: {} }))).toBe(true);
  });
});
