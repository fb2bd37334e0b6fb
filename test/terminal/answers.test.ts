// What a screen answers to a program's queries: from its state at that place of the stream, once for each, and told from text by its form.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Fold } from '../../src/terminal/fold.js';
import { answerOf, type Query, QueryFilter, QueryFinder, queryOf } from '../../src/terminal/queries.js';
import { type Sequence, SequenceReader } from '../../src/terminal/sequences.js';
import { chunked, noise, program, shares } from '../support/programs.js';

const bytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text));

function answersTo(text: string, size = { cols: 80, rows: 24 }): string[] {
  const answers: string[] = [];
  const fold = new Fold(size, (answer) => answers.push(answer));
  fold.output(1, bytes(text));
  fold.dispose();
  return answers;
}

function sequencesOf(...chunks: Uint8Array[]): Sequence[] {
  const found: Sequence[] = [];
  const reader = new SequenceReader();
  for (const chunk of chunks) reader.read(chunk, (sequence) => found.push(sequence));
  return found;
}

const ST = '\x1b\\';
/** What is asked, after what, and what is answered. */
const QUERIES: ReadonlyArray<[name: string, query: string, answer: string, before?: string]> = [
  ['DA1', '\x1b[c', '\x1b[?62;22c'],
  ['DA1 with its parameter', '\x1b[0c', '\x1b[?62;22c'],
  ['DECID', '\x1bZ', '\x1b[?62;22c'],
  ['DA2', '\x1b[>c', '\x1b[>0;276;0c'],
  ['DA3', '\x1b[=c', `\x1bP!|50545947${ST}`],
  ['DSR', '\x1b[5n', '\x1b[0n'],
  ['CPR', '\x1b[6n', '\x1b[2;4R', '\r\nabc'],
  ['CPR while a wrap is pending', '\x1b[6n', '\x1b[1;80R', 'x'.repeat(80)],
  ['CPR in origin mode', '\x1b[6n', '\x1b[2;3R', '\x1b[5;9r\x1b[?6h\x1b[2;3H'],
  ['DECXCPR', '\x1b[?6n', '\x1b[?1;3R', 'ab'],
  ['CPR in a C1 control', '\u009b6n', '\x1b[1;1R'],
  ['the colour scheme', '\x1b[?996n', '\x1b[?997;1n'],
  ['DECRQM of a private mode that is set', '\x1b[?2004$p', '\x1b[?2004;1$y', '\x1b[?2004h'],
  ['DECRQM of one that is not known', '\x1b[?31337$p', '\x1b[?31337;0$y'],
  ['DECRQM of an ANSI mode', '\x1b[4$p', '\x1b[4;2$y'],
  ['DECRQSS of the pen', `\x1bP$qm${ST}`, `\x1bP1$r0;1;4:3;38;5;200m${ST}`, '\x1b[1;4:3;38;5;200m'],
  ['DECRQSS of the margins', `\x1bP$qr${ST}`, `\x1bP1$r3;7r${ST}`, '\x1b[3;7r'],
  ['DECRQSS of the cursor', `\x1bP$q q${ST}`, `\x1bP1$r5 q${ST}`, '\x1b[5 q'],
  ['DECRQSS of the protection', `\x1bP$q"q${ST}`, `\x1bP1$r1"q${ST}`, '\x1b[1"q'],
  ['DECRQSS of what there is none of', `\x1bP$qconstructor${ST}`, `\x1bP0$r${ST}`],
  ['XTVERSION', '\x1b[>0q', `\x1bP>|pty-gateway${ST}`],
  ['the size in pixels', '\x1b[14t', '\x1b[4;384;640t'],
  ['the size of a cell', '\x1b[16t', '\x1b[6;16;8t'],
  ['the size in characters', '\x1b[18t', '\x1b[8;24;80t'],
  ['the size of the whole screen', '\x1b[19t', '\x1b[9;24;80t'],
  ['the foreground', '\x1b]10;?\x07', `\x1b]10;rgb:d3d3/dada/e2e2${ST}`],
  ['the background', `\x1b]11;?${ST}`, `\x1b]11;rgb:0e0e/1313/1818${ST}`],
  ['the colour of the cursor', `\x1b]12;?${ST}`, `\x1b]12;rgb:5c5c/c4c4/b4b4${ST}`],
  ['one of the sixteen colours', `\x1b]4;1;?${ST}`, `\x1b]4;1;rgb:e5e5/7878/6d6d${ST}`],
  ['a colour of the cube', `\x1b]4;110;?${ST}`, `\x1b]4;110;rgb:8787/afaf/d7d7${ST}`],
  ['a grey', `\x1b]4;255;?${ST}`, `\x1b]4;255;rgb:eeee/eeee/eeee${ST}`],
  ['a colour that the program has set', `\x1b]11;?${ST}`, `\x1b]11;rgb:1111/2222/3333${ST}`, `\x1b]11;rgb:11/22/33${ST}`],
  ['a capability', `\x1bP+q436f${ST}`, `\x1bP1+r436f=323536${ST}`],
  ['a capability that there is not', `\x1bP+q4d73${ST}`, `\x1bP0+r4d73${ST}`],
];

describe('a screen that answers', () => {
  it.each(QUERIES)('answers %s', (_, query, answer, before = '') => {
    expect(answersTo(before + query)).toEqual([answer]);
  });

  it('tells the size that the session has, and no column beyond, where that is narrower than any screen of the emulator', () => {
    expect(answersTo('\x1b[9;9H\x1b[6n\x1b[18t\x1b[14t', { cols: 1, rows: 1 })).toEqual(['\x1b[1;1R', '\x1b[8;1;1t', '\x1b[4;16;8t']);
  });

  it.each(QUERIES)('is known to be asked by its form, and to answer by that of its answer: %s', (_, query, answer) => {
    const [asked, answered] = [sequencesOf(bytes(query)), sequencesOf(bytes(answer))] as [[Sequence], [Sequence]];
    const kind = queryOf(asked[0])?.kind;
    expect(kind).toBeDefined();
    expect(answerOf(answered[0])).toBe(kind);
    expect(answered[0]).toMatchObject({ from: 0, to: answer.length });
  });

  it.each(QUERIES)('asks nothing by its answer, should it be echoed: %s', (_, _query, answer) => {
    expect(answersTo(answer)).toEqual([]);
  });

  it.each([
    ['the keyboard protocol of kitty, which it does not have', '\x1b[?u'],
    ['titles, which are a program’s own words', '\x1b]2;rm -rf\x07\x1b[21t\x1b[20t'],
    ['what is in the clipboard', '\x1b]52;c;?\x07'],
    ['a query that was cancelled', '\x1b[6\x18n'],
    ['names of capabilities that are no hex', `\x1bP+qzz;4;${'41'.repeat(100)}${ST}`],
  ])('says nothing to %s', (_, query) => {
    expect(answersTo(query)).toEqual([]);
  });

  it('answers two colours that are asked for at once, and what is asked in the middle of a text there and then', () => {
    expect(answersTo(`\x1b]10;?;?${ST}`)).toHaveLength(2);
    expect(answersTo('\x1b[6na\x1b[6nb\x1b[6n')).toEqual(['\x1b[1;1R', '\x1b[1;2R', '\x1b[1;3R']);
  });

  it('answers the same wherever the stream was cut', () => {
    const query = fc.constantFrom(...QUERIES.map(([, asked]) => bytes(asked)));
    const piece = fc.oneof(program, query);
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), shares, (pieces, cuts) => {
        const whole: string[] = [];
        const cut: string[] = [];
        const stream = new Uint8Array(Buffer.concat(pieces));
        new Fold({ cols: 20, rows: 6 }, (text) => whole.push(text)).output(1, stream);
        const fold = new Fold({ cols: 20, rows: 6 }, (text) => cut.push(text));
        for (const chunk of chunked(stream, cuts)) fold.piece(chunk);
        expect(cut).toEqual(whole);
      }),
    );
  });
});

describe('the sequences of a stream', () => {
  it('are the same wherever it was cut, and lie where they are said to', () => {
    fc.assert(
      fc.property(program, shares, (stream, cuts) => {
        const whole = sequencesOf(stream);
        expect(sequencesOf(...chunked(stream, cuts))).toEqual(whole);
        const places = whole.flatMap(({ from, to }) => [from, to]);
        expect(places).toEqual([...places].sort((a, b) => a - b));
      }),
    );
  });
});

describe('the queries of a stream', () => {
  it('are found as they are by who reads every byte, wherever it was cut', () => {
    const query = fc.constantFrom(
      ...QUERIES.map(([, asked]) => bytes(asked)),
      bytes('\x1b[\r?6\nn'),
      bytes('\x1b[6\x18n'),
      bytes('\u009bc'),
      Uint8Array.of(0x1b, 0xc0, 0x5a),
      Uint8Array.of(0x1b, 0x5b, 0x36, 0xff, 0x6e),
    );
    const silent = fc.constantFrom('\x1b]0;title\x07', '\x1b_6n\x1b\\', '\x1b[2 q', '\x1b(c', '\x1b[3\x1b[1m', '\x1b').map(bytes);
    fc.assert(
      fc.property(fc.array(fc.oneof(program, noise, query, silent), { maxLength: 8 }), shares, (pieces, cuts) => {
        const stream = new Uint8Array(Buffer.concat(pieces));
        const found: Query[] = [];
        const finder = new QueryFinder();
        for (const chunk of chunked(stream, cuts)) finder.read(chunk, (each) => found.push(each));
        expect(found).toEqual(sequencesOf(stream).flatMap((sequence) => queryOf(sequence) ?? []));
      }),
      { numRuns: 1000 },
    );
  });
});

describe('a stream without its queries', () => {
  const take = (chunks: readonly Uint8Array[]): Buffer => {
    const filter = new QueryFilter();
    return Buffer.concat([...chunks.map((chunk) => filter.take(chunk)), filter.end()]);
  };

  it('asks nothing, and is the same but for that, wherever it was cut', () => {
    const query = fc.constantFrom(...QUERIES.map(([, asked]) => asked), '\x1b[?u', '\x1b]52;c;?\x07', '\x1b[1x');
    const other = fc.constantFrom(
      'text',
      '\r\n',
      '\x1b[31m',
      '\x1b[?1049h',
      '\x1b]0;a title?\x07',
      '\x1b[4;1H',
      '\x1b[22;0t',
      '\x1b[2 q',
      'ü',
      '\x1bM',
    );
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            query.map((text) => [text, ST]),
            other.map((text) => [text, text]),
          ),
        ),
        shares,
        (pieces, cuts) => {
          const stream = bytes(pieces.map(([text]) => text).join(''));
          expect(take(chunked(stream, cuts)).toString()).toBe(pieces.map(([, kept]) => kept).join(''));
        },
      ),
    );
  });

  it('loses nothing of a stream that has none, and of one that ends in the middle of one', () => {
    fc.assert(
      fc.property(program, shares, (stream, cuts) => {
        const hasNone = sequencesOf(stream).every((sequence) => !queryOf(sequence));
        if (hasNone) expect(take(chunked(stream, cuts))).toEqual(Buffer.from(stream));
      }),
    );
    const long = bytes(`\x1b]52;c;${'a'.repeat(10_000)}`);
    expect(take([long])).toEqual(Buffer.from(long));
    expect(take([bytes('x\x1b[6')]).toString()).toBe('x\x1b[6');
  });
});
