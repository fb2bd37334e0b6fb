// The tables that the wire is read from: every row says what it is and which section it keeps.
import type { TSchema } from '@sinclair/typebox';
import { describe, expect, it } from 'vitest';
import { asFault, closeCode, errorTable, Fault } from '../../src/errors.js';
import { ClientEnvelope, serverEnvelopes } from '../../src/protocol/envelope.js';
import * as frames from '../../src/protocol/frames.js';
import { CORE_OPERATIONS, OTHER_OPERATIONS, PTY_OPERATIONS } from '../../src/protocol/names.js';
import { PtyParams } from '../../src/protocol/params.js';
import { verbs } from '../../src/protocol/verbs.js';

const frameSchemas = Object.fromEntries(Object.entries(frames).filter(([, value]) => !Array.isArray(value))) as Record<string, TSchema>;
const schemas: Record<string, TSchema> = { ClientEnvelope, PtyParams, ...serverEnvelopes, ...verbs, ...frameSchemas };

it.each(Object.keys(schemas))('the schema of %s has a sentence and a section', (name) => {
  expect(schemas[name]?.description).toMatch(/^[A-Z`].+\((pty-ws|pty-ext|presence) §\d+(\.\d+)?(, §\d+(\.\d+)?)*\)\.$/);
});

it('there is one verb for each operation', () => {
  expect(Object.keys(verbs).sort()).toEqual([...CORE_OPERATIONS, ...PTY_OPERATIONS, ...OTHER_OPERATIONS].sort());
});

describe('the table of errors', () => {
  it('is that of pty-ws §6', () => {
    expect(Object.fromEntries(Object.entries(errorTable).map(([code, row]) => [code, row.a2a]))).toEqual({
      TASK_NOT_FOUND: 'TaskNotFound',
      TASK_NOT_CANCELABLE: 'TaskNotCancelable',
      INVALID_REQUEST: 'InvalidRequest',
      UNSUPPORTED_OPERATION: 'UnsupportedOperation',
      UNAUTHENTICATED: 'Unauthenticated',
      PERMISSION_DENIED: 'PermissionDenied',
      RATE_LIMITED: 'RateLimited',
      INTERNAL: 'Internal',
      REPLAY_OUT_OF_RANGE: 'ReplayOutOfRange',
    });
    expect(Object.values(closeCode)).toEqual([1000, 1009, 1011, 4400, 4401, 4403, 4404, 4429]);
  });

  it('says of two codes alone that trying again may help', () => {
    const retryable = Object.entries(errorTable).filter(([, row]) => row.retryable);
    expect(retryable.map(([code]) => code)).toEqual(['RATE_LIMITED', 'INTERNAL']);
  });
});

describe('a thrown value', () => {
  it('that was meant for the client is told as it is', () => {
    const fault = new Fault('TASK_NOT_FOUND', 'there is no task x', { status: 410 });
    expect(asFault(fault)).toBe(fault);
    expect(fault).toMatchObject({ status: 410, retryable: false });
  });

  it('that was not becomes INTERNAL, its words kept for the log', () => {
    const cause = new Error('ECONNREFUSED 10.0.0.7');
    expect(asFault(cause)).toMatchObject({ code: 'INTERNAL', cause, message: expect.not.stringContaining('10.0.0.7') });
  });
});
