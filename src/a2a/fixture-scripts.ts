// What the fixture agent does with a message, chosen by how its messageId begins, as the A2A conformance kit expects it. Knows no task.
import type { TaskState } from '../session/session.js';
import type { Part } from './requests.js';

/** One thing that happens to a task of the fixture. */
export type Step =
  | { readonly state: TaskState; readonly says?: string }
  | { readonly artifact: string; readonly parts: readonly Part[]; readonly append?: boolean; readonly lastChunk?: boolean }
  | { readonly waitMs: number };

/** A script of a task, or an answer without a task. */
export type Script = readonly Step[] | { readonly answer: string };

/** Longer than a client of the kit waits for one event, in milliseconds. */
const LONG_WORK_MS = 4000;

const done: Step = { state: 'TASK_STATE_COMPLETED' };
const working: Step = { state: 'TASK_STATE_WORKING' };
const file: Part = { raw: 'dGNr', filename: 'output.txt', mediaType: 'text/plain' };
const gives = (...parts: Part[]): Step => ({ artifact: 'result', parts });
const streamed = (...parts: Part[]): Script => [working, gives(...parts), done];

const scripts: Readonly<Record<string, Script>> = {
  'tck-complete-task': [{ state: 'TASK_STATE_COMPLETED', says: 'Hello from TCK' }],
  'tck-artifact-text': [gives({ text: 'Generated text content' }), done],
  'tck-artifact-file': [gives(file), done],
  'tck-artifact-file-url': [gives({ url: 'https://example.com/output.txt', filename: 'output.txt', mediaType: 'text/plain' }), done],
  'tck-artifact-data': [gives({ data: { key: 'value', count: 42 } }), done],
  'tck-message-response': { answer: 'Direct message response' },
  'tck-input-required': [{ state: 'TASK_STATE_INPUT_REQUIRED' }],
  'tck-reject-task': [{ state: 'TASK_STATE_REJECTED', says: 'rejected' }],
  'tck-stream-001': streamed({ text: 'Stream hello from TCK' }),
  'tck-stream-002': [done],
  'tck-stream-003': streamed({ text: 'Stream task lifecycle' }),
  'tck-stream-ordering-001': streamed({ text: 'Ordered output' }),
  'tck-stream-artifact-text': streamed({ text: 'Streamed text content' }),
  'tck-stream-artifact-file': streamed(file),
  'tck-stream-artifact-chunked': [
    working,
    { artifact: 'result', parts: [{ text: 'chunk-1 ' }], lastChunk: false },
    { artifact: 'result', parts: [{ text: 'chunk-2' }], append: true, lastChunk: true },
    done,
  ],
  'test-resubscribe-message-id': [working, { waitMs: LONG_WORK_MS }, done],
};

/** The one with the longest prefix that fits; any other message completes its task. */
export function scriptFor(messageId: string): Script {
  const [prefix] = Object.keys(scripts)
    .filter((each) => messageId.startsWith(each))
    .sort((a, b) => b.length - a.length);
  return scripts[prefix ?? ''] ?? [{ state: 'TASK_STATE_COMPLETED', says: 'Done; no script begins like this messageId.' }];
}
