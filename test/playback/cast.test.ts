// An asciicast of version 2 is read as a recording; what is none is refused by its line.
import { describe, expect, it } from 'vitest';
import { readCast } from '../../src/playback/cast.js';
import type { Moment } from '../../src/playback/recording.js';

async function* linesOf(...lines: readonly unknown[]): AsyncGenerator<string> {
  for (const line of lines) yield typeof line === 'string' ? line : JSON.stringify(line);
}
const header = { version: 2, width: 80, height: 24, timestamp: 1_700_000_000, title: 'x' };

async function momentsOf(recording: Awaited<ReturnType<typeof readCast>>, from = 0): Promise<Moment[]> {
  const moments: Moment[] = [];
  for await (const piece of recording.read(from, new AbortController().signal)) moments.push(...piece);
  return moments;
}

describe('an asciicast', () => {
  it('has output, sizes and markers, and passes over what it does not know', async () => {
    const recording = await readCast(
      linesOf(header, [0.5, 'o', 'é'], [1, 'i', 'typed'], [1.5, 'r', '100x30'], [2, 'm', 'here'], '', [2.5, 'o', 'b']),
    );
    expect(recording.timeline).toMatchObject({ startedAt: 1_700_000_000_000, duration: 2500, size: { cols: 80, rows: 24 } });
    expect(recording.timeline.markers).toEqual([{ at: 2000, kind: 'marked', text: 'here' }]);
    const moments = await momentsOf(recording);
    expect(moments.map(({ at, kind }) => [at, kind])).toEqual([
      [500, 'output'],
      [1500, 'resize'],
      [2500, 'output'],
    ]);
    expect(await momentsOf(recording, 2)).toEqual(moments.slice(2));
  });

  it.each([
    ['line 1: expected the header of an asciicast, version 2; this is version 1', [{ ...header, version: 1 }]],
    ['line 1: expected the header of an asciicast, version 2', [[1, 'o', 'x']]],
    ['line 1: expected JSON', ['nonsense']],
    ['line 1: a terminal of 0 × 24; expected 1 to 1024 each', [{ ...header, width: 0 }]],
    ['line 2: expected an event: [seconds, "o", "text"]', [header, [1, 'o']]],
    ['line 3: expected JSON', [header, [1, 'o', 'x'], '[2, "o", "tor']],
    ['line 2: a terminal of 9999 × 1; expected 1 to 1024 each', [header, [1, 'r', '9999x1']]],
    ['the file is empty; expected an asciicast, version 2', []],
  ])('is refused: %s', async (message, lines) => {
    await expect(readCast(linesOf(...lines))).rejects.toThrow(message);
  });
});
