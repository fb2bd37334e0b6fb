// What the gateway says, as the log keeps it, and back.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isId } from '../../src/protocol/ids.js';
import { entry, readPayload } from '../../src/protocol/make-frames.js';

describe('an entry', () => {
  it('of Output is the raw bytes, uncopied', () => {
    const bytes = Uint8Array.of(0xff, 0, 0xfe);
    const output = entry('Output', bytes);
    expect(output.body).toBe(bytes);
    expect(readPayload(output)).toEqual({ kind: 'Output', stream: 'stdout', bytes });
  });

  it('has an id of its own and the time that it is given', () => {
    const { id, ts, kind } = entry('Resize', { cols: 80, rows: 24 }, 1234);
    expect({ ts, kind, ours: isId(id) }).toEqual({ ts: 1234, kind: 'Resize', ours: true });
  });

  it('of any other kind gives back its payload, whatever text is in it', () => {
    const text = fc.string({ unit: 'binary' });
    fc.assert(
      fc.property(text, text, (code, message) => {
        expect(readPayload(entry('Error', { code, message }))).toEqual({ kind: 'Error', code, message });
      }),
    );
  });

  it('of a task event keeps the payload free of a kind, and reading tells it', () => {
    const update = { task: { id: 't', contextId: 'c', status: { state: 'TASK_STATE_WORKING' } }, delta: { taskId: 't' } };
    const kept = entry('TaskStatusUpdate', update);
    expect(JSON.parse(new TextDecoder().decode(kept.body))).toEqual(update);
    expect(readPayload(kept)).toEqual({ kind: 'TaskStatusUpdate', ...update });
  });
});
