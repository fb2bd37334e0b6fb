// What is typed passes, wherever it is cut; what a terminal answers to a query that it was shown does not.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Frame } from '../../src/protocol/frames.js';
import { entry } from '../../src/protocol/make-frames.js';
import { ANSWER_EXPECTED_MS, AnswerFilter, type Typed } from '../../src/session/answer-filter.js';
import { answerOf } from '../../src/terminal/queries.js';
import { SequenceReader } from '../../src/terminal/sequences.js';
import { feed, reference } from '../support/look.js';
import { chunked, noise, program, share, shares } from '../support/programs.js';

const ST = '\x1b\\';
/** What a program asks, and what a terminal answers. */
const ASKED: ReadonlyArray<readonly [query: string, answer: string]> = [
  ['\x1b[c', '\x1b[?1;2c'],
  ['\x1b[0;1c', '\x1b[?1;2c'],
  ['\x1b[>c', '\x1b[>41;400;0c'],
  ['\x1b[=c', `\x1bP!|00000000${ST}`],
  ['\x1b[5n', '\x1b[0n'],
  ['\x1b[6n', '\x1b[12;40R'],
  ['\x1b[?6n', '\x1b[?1;5R'],
  ['\x1b[?2026$p', '\x1b[?2026;2$y'],
  [`\x1bP$qm${ST}`, `\x1bP1$r0m${ST}`],
  ['\x1b[>q', `\x1bP>|XTerm(400)${ST}`],
  ['\x1b[18t', '\x1b[8;24;80t'],
  ['\x1b]11;?\x07', '\x1b]11;rgb:0000/0000/0000\x07'],
  ['\x1b]4;1;?;2;?\x07', `\x1b]4;1;rgb:0000/0000/0000${ST}\x1b]4;2;rgb:0000/0000/0000${ST}`],
  ['\x1b[?u', '\x1b[?0u'],
  [`\x1bP+q544e${ST}`, `\x1bP1+r544e=7874${ST}`],
  [`\x1bP+q544e;436f${ST}`, `\x1bP1+r544e=7874${ST}\x1bP1+r436f=323536${ST}`],
];
const bytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'latin1'));
const output = (text: string, sequence = 1): Frame => ({ ...entry('Output', bytes(text)), sequence });
const textOf = (typed: readonly Typed[]): string => typed.map((each) => Buffer.from(each.bytes).toString('latin1')).join('');

class Scene {
  now = 0;
  readonly filter = new AnswerFilter(() => this.now);

  /** All that is typed of these, nothing being held any more. */
  type(...chunks: ReadonlyArray<Uint8Array | string>): string {
    const typed = chunks.flatMap((chunk) => this.filter.take(typeof chunk === 'string' ? bytes(chunk) : chunk));
    return textOf([...typed, ...this.filter.release()]);
  }
}

function hasAnswer(stream: Uint8Array): boolean {
  let found = false;
  new SequenceReader().read(stream, (sequence) => {
    found ||= answerOf(sequence) !== undefined;
  });
  return found;
}

const anything = fc.oneof(program, noise);
/** Queries as nobody writes them, and much that only looks like one. */
const unusual = fc
  .record({
    prefix: fc.constantFrom('', '?', '>', '=', '<'),
    parameters: fc.array(fc.constantFrom('', '0', '00', '5', '06', '6:1', '006', '996', '2004', '18'), { maxLength: 3 }),
    final: fc.constantFrom('c', 'n', 'q', 't', 'x', 'm', '$p'),
    inside: fc.constantFrom('', '\r', '\x00', '\x7f'),
  })
  .map(({ prefix, parameters, final, inside }) => `\x1b[${prefix}${inside}${parameters.join(';')}${final}`);
const settings = fc
  .tuple(fc.constantFrom('', '1', '0;1'), fc.constantFrom('m', 'r', ' q', 'z'))
  .map(([parameters, what]) => `\x1bP${parameters}$q${what}${ST}`);
const answers = fc.constantFrom(...ASKED.map(([, answer]) => answer));

describe('what is typed', () => {
  it('passes unchanged while nothing was asked, whatever it looks like, wherever it is cut', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(anything, answers.map(bytes))), shares, (pieces, cuts) => {
        const stream = new Uint8Array(Buffer.concat(pieces));
        const scene = new Scene();
        scene.filter.sent(output('prompt \x1b[31m$ \x1b]0;title\x07'));
        for (const chunk of chunked(stream, cuts)) {
          expect(textOf(scene.filter.take(chunk))).toBe(Buffer.from(chunk).toString('latin1'));
          expect(scene.filter.holds).toBe(false);
        }
      }),
    );
  });

  it('passes unchanged while answers are expected, if it has the form of none', () => {
    fc.assert(
      fc.property(anything, shares, (stream, cuts) => {
        fc.pre(!hasAnswer(stream));
        const scene = new Scene();
        scene.filter.sent(output(ASKED.map(([query]) => query).join('')));
        expect(scene.type(...chunked(stream, cuts))).toBe(Buffer.from(stream).toString('latin1'));
      }),
    );
  });

  it('passes between the answers, which do not, wherever the one and the other is cut', () => {
    const keys = fc.constantFrom(
      'ls\r',
      '\x1b[A',
      '\x1bOP',
      '\x1bx',
      '\x1b[1;5C',
      '\x1b[200~pasted\x1b[201~',
      'ü',
      '\x03',
      '\x1b[M !!',
      '\x1b[<0;1;1M',
    );
    const piece = fc.oneof(
      keys.map((key) => ({ key, asked: undefined })),
      fc.constantFrom(...ASKED).map((asked) => ({ key: '', asked })),
    );
    fc.assert(
      fc.property(fc.array(piece), shares, share, (pieces, cuts, place) => {
        const scene = new Scene();
        const asked = bytes(pieces.map((each) => each.asked?.[0] ?? '').join('some output'));
        const [before, after] = chunked(asked, [place]) as [Uint8Array, Uint8Array];
        scene.filter.sent({ ...entry('Output', before), sequence: 1 });
        scene.filter.sent({ ...entry('Output', after), sequence: 2 });
        const stream = bytes(pieces.map((each) => each.asked?.[1] ?? each.key).join(''));
        expect(scene.type(...chunked(stream, cuts))).toBe(pieces.map(({ key }) => key).join(''));
      }),
    );
  });
});

describe('an answer', () => {
  it.each(ASKED)('to %j is dropped once', (query, answer) => {
    const scene = new Scene();
    scene.filter.sent(output(query));
    expect(scene.type(answer)).toBe('');
    expect(scene.type(answer)).toBe(answer);
  });

  it('of a real terminal is dropped, in whatever way it was asked', async () => {
    const terminal = reference(80, 24);
    let answer = '';
    terminal.onData((text) => {
      answer += text;
    });
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(unusual, settings), { maxLength: 4 }), async (queries) => {
        const scene = new Scene();
        const asked = `\x1b[5;20H${queries.join('')}`;
        answer = '';
        await feed(terminal, asked);
        scene.filter.sent(output(asked));
        expect(scene.type(answer)).toBe('');
      }),
      { numRuns: 1000 },
    );
    terminal.dispose();
  });

  it('is dropped however many outputs of a long past have asked', () => {
    const scene = new Scene();
    for (let sequence = 1; sequence <= 1000; sequence++) scene.filter.sent(output('\x1b[6n\x1b[c', sequence));
    expect(scene.type('\x1b[12;40R\x1b[?1;2c'.repeat(1000))).toBe('');
    expect(scene.type('\x1b[12;40R\x1b[?1;2c')).toBe('\x1b[12;40R\x1b[?1;2c');
  });

  it('passes when it comes too late, or to what was not asked', () => {
    const scene = new Scene();
    scene.filter.sent(output('\x1b[c'));
    expect(scene.type('\x1b[?2026;2$y')).toBe('\x1b[?2026;2$y');
    scene.now += ANSWER_EXPECTED_MS;
    expect(scene.type('\x1b[?1;2c')).toBe('\x1b[?1;2c');
  });

  it('is expected for what a Keyframe asks, too, and for a query that begins in it', () => {
    const scene = new Scene();
    const snapshot = Buffer.from('screen\x1b[5n\x1b[').toString('base64');
    const picture = {
      snapshot,
      snapshot_format: 'vt100-screen-state-v1',
      snapshot_cols: 80,
      snapshot_rows: 24,
      anchor_sequence: 1,
    } as const;
    scene.filter.sent({ ...entry('Keyframe', picture), sequence: 2 });
    scene.filter.sent(output('c', 3));
    expect(scene.type('\x1b[0n\x1b[?1;2c')).toBe('');
  });

  it('that may be Shift+F3 is left to the owner, who knows the value', () => {
    const scene = new Scene();
    expect(scene.filter.take(bytes('\x1b[1;2R'))).toEqual([{ bytes: bytes('\x1b[1;2R') }]);
    scene.filter.sent(output('\x1b[5n\x1b[?6n', 4));
    expect(scene.filter.take(bytes('a\x1b[1;2R')).map(({ answerTo }) => answerTo)).toEqual([undefined]);
    scene.filter.sent(output('\x1b[6n', 5));
    scene.filter.sent(output('\x1b[6n', 9));
    const typed = scene.filter.take(bytes('a\x1b[1;2Rb'));
    expect(typed.map(({ answerTo }) => answerTo)).toEqual([undefined, [5, 9], undefined]);
    expect(textOf(typed)).toBe('a\x1b[1;2Rb');
  });

  it('is not waited for longer than the caller wants to, and an Escape key that was held is typed', () => {
    const scene = new Scene();
    scene.filter.sent(output('\x1b[c'));
    expect(scene.filter.take(bytes('\x1b'))).toEqual([]);
    expect(scene.filter.holds).toBe(true);
    expect(textOf(scene.filter.release())).toBe('\x1b');
    expect(scene.type('[?1;2c')).toBe('[?1;2c');
  });
});
