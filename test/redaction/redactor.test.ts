import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compilePattern } from '../../src/redaction/line-patterns.js';
import { MAX_HELD_BYTES, Redactor } from '../../src/redaction/redactor.js';
import { seek } from '../../src/redaction/sought.js';

interface Settings {
  readonly secrets?: readonly string[];
  readonly patterns?: readonly string[];
  readonly cols?: number;
}

/** Made once for the same secrets, as a session does; the newest few are kept. */
const known = new Map<string, ReturnType<typeof seek>>();
function sought(secrets: readonly string[]): ReturnType<typeof seek> {
  const name = JSON.stringify(secrets);
  const found = known.get(name) ?? seek(secrets);
  if (known.size === 4) known.clear();
  known.set(name, found);
  return found;
}

/** What comes out, as it may be shown and as it was, when the stream comes in these chunks and then ends. */
function through(chunks: readonly Uint8Array[], { secrets = [], patterns = [], cols = 80 }: Settings = {}) {
  const redacted: Uint8Array[] = [];
  const raw: Uint8Array[] = [];
  const redactor = new Redactor(sought(secrets), patterns.map(compilePattern), cols, (shown, was) => {
    redacted.push(Uint8Array.from(shown));
    raw.push(Uint8Array.from(was));
  });
  for (const chunk of chunks) redactor.push(chunk);
  redactor.settle();
  return { redacted: Buffer.concat(redacted), raw: Buffer.concat(raw) };
}

const shown = (text: string, settings?: Settings) => through([Buffer.from(text)], settings).redacted.toString();

/** The bytes, cut at these places (modulo their length). */
function cutAt(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const ends = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b);
  return [...ends, bytes.length].map((end, i) => bytes.subarray(i === 0 ? 0 : ends[i - 1], end));
}

const places = fc.array(fc.nat(2000), { maxLength: 40 });
const few = fc.constantFrom(...'abAB1 ');
const secret = fc.oneof(fc.string({ unit: few, minLength: 4, maxLength: 90 }), fc.string({ minLength: 4, maxLength: 20, unit: 'binary' }));
const secrets = fc.array(secret, { minLength: 1, maxLength: 3 });
const noise = fc.oneof(
  fc.string({ unit: few, maxLength: 30 }),
  fc.string({ unit: 'binary', maxLength: 10 }),
  fc.constantFrom('\r\n', '\r', '\b', '\t', '\x1b[1;31m', '\x1b[m', '\x1b[5;7H', '\x1b]0;', '\x07', '\x1b\\', '\x1bP', '\x9b1m', '\x18'),
  fc.constantFrom('ghp_', 'AKIA', 'sk_live_', '.eyJ', '-----BEGIN RSA PRIVATE KEY-----', '-----END', 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'),
);
/** Streams of anything, with secrets and parts of secrets in it. */
const streams = secrets.chain((all) => {
  const parts = fc.tuple(fc.constantFrom(...all), fc.nat(100)).map(([one, end]) => one.slice(0, end));
  const corrected = fc
    .tuple(fc.constantFrom(...all), fc.nat(20), fc.constantFrom('x\b', 'x\b \b', 'a\b', 'ab\b\b', '\b', 'b\x1b[m\b'))
    .map(([one, at, mistake]) => one.slice(0, at) + mistake + one.slice(at));
  const text = fc
    .array(fc.oneof(noise, fc.constantFrom(...all), parts, corrected), { maxLength: 30 })
    .map((pieces) => Buffer.from(pieces.join('')));
  const bytes = fc.oneof(
    text,
    fc.array(fc.oneof(text, fc.uint8Array({ maxLength: 6 }))).map((some) => Buffer.concat(some)),
  );
  return fc.record({ secrets: fc.constant(all), bytes, cols: fc.constantFrom(1, 2, 7, 80) });
});

describe('A redactor', () => {
  it('gives the same, however the stream was cut into chunks', () => {
    fc.assert(
      fc.property(streams, places, ({ bytes, ...settings }, cuts) => {
        expect(through(cutAt(bytes, cuts), settings)).toEqual(through([bytes], settings));
      }),
      { numRuns: 500 },
    );
  });

  it('gives the same with patterns, however the stream was cut into chunks', () => {
    fc.assert(
      fc.property(streams, places, ({ bytes, ...settings }, cuts) => {
        const patterns = ['A+B', '[0-9]a*', 'b.{2}a'];
        expect(through(cutAt(bytes, cuts), { ...settings, patterns })).toEqual(through([bytes], { ...settings, patterns }));
      }),
      { numRuns: 200 },
    );
  });

  it('holds the first letter behind a full line for patterns as well', () => {
    const printed = Buffer.from('abcde123 x\r\n');
    for (let cut = 0; cut <= printed.length; cut++)
      expect(through(cutAt(printed, [cut]), { patterns: ['[0-9]+'], cols: 5 }).redacted.toString()).toBe('abcde*** x\r\n');
  });

  it('keeps the length of every piece, and tells what it was', () => {
    fc.assert(
      fc.property(streams, places, ({ bytes, ...settings }, cuts) => {
        const { redacted, raw } = through(cutAt(bytes, cuts), settings);
        expect(raw).toEqual(bytes);
        expect(redacted.length).toBe(bytes.length);
      }),
      { numRuns: 500 },
    );
  });

  // A redactor that looks for a leased secret reads every byte; another passes over lines in which nothing can begin.
  const tokens = fc.constantFrom<string>(
    `ghp_${'a1B2'.repeat(9)}`,
    `AKIA${'ABCD2345'.repeat(2)}`,
    `x.eyJ${'abc_.-='.repeat(4)}`,
    `SK${'0f'.repeat(16)}`,
  );
  const keys = fc.constant('-----BEGIN RSA PRIVATE KEY-----\r\nMIIE\r\nabc+/=\r\n-----END RSA PRIVATE KEY-----\r\n');
  const parted = fc
    .tuple(fc.oneof(tokens, tokens, keys), fc.array(fc.tuple(fc.nat(80), noise), { maxLength: 2 }))
    .map(([token, parts]) => parts.reduce((text, [at, part]) => `${text.slice(0, at)}${part}${text.slice(at)}`, token));
  const words = fc.array(fc.string({ unit: fc.constantFrom(...'abk_-.2 '), maxLength: 14 }), { maxLength: 8 }).map((all) => all.join(' '));
  const lines = fc.array(fc.tuple(fc.oneof(words, words, parted, noise), fc.constantFrom('\r\n', '\r\n', '\r\n', '\n', ' ', '')));

  it('finds as much as if it had looked at each byte of each line', () => {
    fc.assert(
      fc.property(lines, places, fc.constantFrom(1, 7, 14, 80), (all, cuts, cols) => {
        const bytes = Buffer.from(all.flat().join(''));
        const slow = through([bytes], { secrets: ['🔑🔑🔑🔑 is nowhere 🔑🔑🔑🔑'], cols });
        expect(through(cutAt(bytes, cuts), { cols }).redacted.toString()).toBe(slow.redacted.toString());
      }),
      { numRuns: 300 },
    );
  });

  it('knows that who goes back in a line does not get into the one before it', () => {
    const token = `ghp_${'a1B2'.repeat(9)}`;
    expect(shown(`abc\r\n\b\b\b\b${token}\r\n`)).toBe(`abc\r\n\b\b\b\bghp_${'*'.repeat(36)}\r\n`);
  });

  // Clear text has no letter in common with a secret, so that the right answer is known.
  const upper = fc.string({ unit: fc.constantFrom(...'ABCDEFGH0123'), minLength: 8, maxLength: 150 });
  const clear = fc.oneof(
    fc.string({ unit: fc.constantFrom(...'vwxyz.,;! é漢'), maxLength: 20 }),
    fc.constantFrom('\r\n', '\x1b[1;32m', '\x1b[K', '\x1b[3;4H', '\x1b]0;vw\x07'),
  );
  const between = fc.constantFrom('', '', '', '\x1b[1m', '\x1b[38;5;196m', '\r\n', '\x1b[2;1H', '\x1b[0m\x1b[K', '\n');
  /** The letters of sequences stay: they are no text. */
  const hidden = (one: string) => one.replaceAll(/(\p{Cc}\[[0-9;]*[A-Za-z])|[A-H0-3]/gu, (_all, sequence) => sequence ?? '*');

  it('conceals each secret, whatever sequences and line breaks are in it, and nothing else', () => {
    const story = fc.array(upper, { minLength: 1, maxLength: 3 }).chain((all) => {
      const broken = fc
        .tuple(fc.constantFrom(...all), fc.array(between, { minLength: 150, maxLength: 150 }))
        .map(([one, breaks]) => [...one].map((letter, i) => (i === 0 ? letter : `${breaks[i]}${letter}`)).join(''));
      const part = fc.record({ clear, secret: broken });
      return fc.record({ secrets: fc.constant(all), parts: fc.array(part, { maxLength: 6 }) });
    });
    fc.assert(
      fc.property(story, places, ({ secrets, parts }, cuts) => {
        const text = parts.map(({ clear, secret }) => `${clear}.${secret}.`).join('');
        const wanted = parts.map(({ clear, secret }) => `${clear}.${hidden(secret)}.`).join('');
        expect(through(cutAt(Buffer.from(text), cuts), { secrets }).redacted.toString()).toBe(wanted);
      }),
      { numRuns: 500 },
    );
  });

  it('changes nothing of a stream in which no secret is', () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 300 }),
      fc.array(clear).map((parts) => Buffer.from(parts.join(''))),
    );
    fc.assert(
      fc.property(bytes, fc.array(upper), places, (stream, secrets, cuts) => {
        const ended = Buffer.concat([stream, Buffer.from('.')]);
        fc.pre(!ended.toString('latin1').match(/[A-H0-3]{3}/));
        expect(through(cutAt(ended, cuts), { secrets }).redacted).toEqual(ended);
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    ['base64 alone', (s: string) => Buffer.from(s).toString('base64')],
    ['base64 inside of something longer', (s: string) => Buffer.from(`user:${s}:x`).toString('base64')],
    ['base64 at another offset', (s: string) => Buffer.from(`{"key":"${s}"}`).toString('base64')],
    ['base64 for URLs', (s: string) => Buffer.from(`ab${s}`).toString('base64url')],
    [
      'base64 in lines',
      (s: string) =>
        `${Buffer.from(s)
          .toString('base64')
          .match(/.{1,5}/g)
          ?.join('\r\n')}`,
    ],
    ['a URL', (s: string) => encodeURIComponent(s)],
    ['a URL in lower case', (s: string) => encodeURIComponent(s).replaceAll(/%../g, (hex) => hex.toLowerCase())],
    ['a form', (s: string) => new URLSearchParams({ x: s }).toString()],
    ['JSON', (s: string) => JSON.stringify(s)],
  ])('finds a secret as %s', (_name, write) => {
    fc.assert(
      fc.property(fc.string({ minLength: 12, maxLength: 100, unit: 'grapheme' }), (one) => {
        const text = `> ${write(one)} <`;
        const changed = shown(text, { secrets: [one] });
        // The characters at both ends of base64 tell of the neighbours, too, and may stay.
        expect(changed.match(/[*·•＊🔒]/gu)?.length).toBeGreaterThanOrEqual([...one].length);
        for (const form of [one, write(one)]) expect(changed).not.toContain(form);
      }),
      { numRuns: 100 },
    );
  });

  it('finds a secret of many lines wherever lines end, and in JSON', () => {
    const secret = 'first line of it\nsecond line of it\n';
    expect(shown('a first line of it\r\nsecond line of it\r\n.', { secrets: [secret] })).toBe(
      'a ****************\r\n*****************\r\n.',
    );
    expect(shown('"first line of it\\nsecond line of it\\n"', { secrets: [secret] })).toBe(`"${'*'.repeat(37)}"`);
  });

  it('finds what is printed bold as printers did it, each letter twice, and shows neither', () => {
    const bold = (text: string, times: number) => [...text].map((letter) => Array(times).fill(letter).join('\b')).join('');
    const wholes = fc.oneof(
      fc.string({ unit: fc.constantFrom(...'abAB1é漢'), minLength: 4, maxLength: 90 }).map((whole) => ({ whole, secrets: [whole] })),
      tokens.map((whole) => ({ whole, secrets: [] })),
    );
    fc.assert(
      fc.property(wholes, fc.integer({ min: 2, max: 4 }), places, ({ whole, secrets }, times, cuts) => {
        const settings = { secrets, cols: 1000 };
        const wanted = bold(shown(`# ${whole} #`, settings), times);
        expect(through(cutAt(Buffer.from(bold(`# ${whole} #`, times)), cuts), settings).redacted.toString()).toBe(wanted);
      }),
      { numRuns: 200 },
    );
  });

  it('finds a secret that somebody corrects while typing it, from there on, however the stream was cut', () => {
    const [printed, secrets] = [Buffer.from('$ huntx\b \ber22.'), ['hunter22']];
    for (let cut = 0; cut <= printed.length; cut++)
      expect(through(cutAt(printed, [cut]), { secrets }).redacted.toString()).toBe('$ huntx\b \b****.');
  });

  it('finds a secret between whose letters stands what nobody sees, and one that was given with it', () => {
    const unseen = fc.constantFrom('\u200b', '\u200d', '\ufeff', '\u2060', '\ufe0f', '\x1b[m', '\x1b[5;3H', '\x07');
    fc.assert(
      fc.property(fc.array(unseen, { minLength: 7, maxLength: 7 }), (between) => {
        const veiled = [...'hunter22'].map((letter, i) => letter + (between[i] ?? '')).join('');
        const left = (secrets: string[]) =>
          shown(`a ${veiled} b`, { secrets })
            .replaceAll(/[^a-z0-9* ]/g, '')
            .replaceAll(/5|3|m/g, '');
        expect(left(['hunter22'])).toBe('a ******** b');
        expect(left(['hunt\u200b\ufeffer22'])).toBe('a ******** b');
      }),
    );
  });

  it('finds a short secret on one line alone', () => {
    const secrets = ['1234'];
    expect(shown('12\r\n34 1234', { secrets })).toBe('12\r\n34 ****');
    expect(shown('x12\r\n34', { secrets, cols: 3 })).toBe('x**\r\n**');
  });

  it('conceals characters beyond ASCII by others of their width and length', () => {
    expect(shown('(pässwörd€漢字🔑)', { secrets: ['pässwörd€漢字🔑'] })).toBe('(*·***·**•＊＊🔒)');
  });

  it('finds secrets in titles and other strings', () => {
    expect(shown('\x1b]0;at hunter22!\x07 \x1b]8;;http://x/hunter22\x1b\\', { secrets: ['hunter22'] })).toBe(
      '\x1b]0;at ********!\x07 \x1b]8;;http://x/********\x1b\\',
    );
  });

  it('finds nothing that is half in a string and half on the screen', () => {
    expect(shown('hunt\x1b]0;er22\x07!', { secrets: ['hunter22'] })).toBe('hunt\x1b]0;er22\x07!');
  });

  it.each([
    [' written with a blank', 'abcdefgh \rijkl', 8, '*********\r****'],
    [' written twice', 'abcdefghi\rijkl', 8, '*********\r****'],
    [' ended by CR LF', 'abcdefgh\r\nijkl', 8, '********\r\n****'],
  ])('finds a secret that is wrapped by the echo, its line%s', (_name, text, cols, wanted) => {
    expect(shown(text, { secrets: ['abcdefghijkl'], cols })).toBe(wanted);
  });

  it.each([
    ['the screen was cleared', '\x1b[H\x1b[2J\x1b[3J$ '],
    ['an editor has gone', '\x1b[24;9H~\x1b[24;1H\x1b[?1049l$ '],
    ['the line was begun anew by its column', '\t\x1b[1G$ '],
    ['a column was named', 'a\tb\x1b[5;3H'],
    ['a prompt at the right', '$ \x1b[14Cok\x1b[99C\x1b[17D'],
    ['a prompt that was written over another', '$ \x1b[2A\x1b[B'],
    ['a wide character of a prompt', '漢'],
    ['an emoji of a prompt', '🚀'],
    ['an accent that is a character by itself', 'e\u0301 '],
    ['a letter beyond ASCII that was taken back', '$ é\b'],
  ])('finds a secret that is wrapped by the echo behind this: %s', (_name, before) => {
    const echo = 'x'.repeat(10);
    expect(shown(`${before}${echo}abcdefghi\rijklmnop\r\n`, { secrets: ['abcdefghijklmnop'], cols: 20 })).toBe(
      `${before}${echo}*********\r********\r\n`,
    );
  });

  it('finds a secret that is wrapped by the echo after the terminal was made wider, and by a wide character that had no room', () => {
    const out: Uint8Array[] = [];
    const redactor = new Redactor(seek(['abcdefghijklmnop']), [], 80, (bytes) => out.push(bytes));
    redactor.resize(20);
    redactor.push(Buffer.from(`$ ${'x'.repeat(10)}abcdefghi\rijklmnop\r\n`));
    expect(Buffer.concat(out).toString()).toBe(`$ ${'x'.repeat(10)}*********\r********\r\n`);
    expect(shown(`1234567漢${'x'.repeat(4)}abc\rcdefgh`, { secrets: ['abcdefgh'], cols: 8 })).toBe(`1234567漢xxxx***\r******`);
  });

  it('lets what may be the beginning of a secret wait, and nothing else', () => {
    const out: string[] = [];
    const redactor = new Redactor(seek(['hunter22']), [], 80, (bytes) => out.push(Buffer.from(bytes).toString()));
    redactor.push(Buffer.from('the hun'));
    redactor.push(Buffer.from('t'));
    redactor.push(Buffer.from('ing \x1b[1m'));
    redactor.push(Buffer.from('h'));
    expect(out).toEqual(['the ', 'hunting \x1b[1m']);
    redactor.settle();
    expect(out.at(-1)).toBe('h');
  });

  it('lets the first character after a full line go at once, unless it may be a part of a secret', () => {
    const out: string[] = [];
    const redactor = new Redactor(seek(['hunter22']), [], 8, (bytes) => out.push(Buffer.from(bytes).toString()));
    for (const piece of ['abcdefgx', 'i', 'jkmhunt', 'e', '\r', 'er22.']) redactor.push(Buffer.from(piece));
    expect(out).toEqual(['abcdefgx', 'i', 'jkm', '*****\r****.']);
  });

  it('shows less than half of a secret that comes so slowly that it cannot be waited for', () => {
    const out: Uint8Array[] = [];
    const redactor = new Redactor(seek(['hunter22-and-more']), [], 80, (bytes) => out.push(bytes));
    for (const letter of 'hunter22-and-more.') {
      redactor.push(Buffer.from(letter));
      redactor.settle();
    }
    expect(Buffer.concat(out).toString()).toBe('hunter22*********.');
  });

  it('holds a bounded number of bytes, whatever sequences come in the middle of a secret', () => {
    const redactor = new Redactor(seek(['hunter22']), [], 80, () => {});
    redactor.push(Buffer.from('hunter2'));
    for (let i = 0; i < 100; i++) redactor.push(Buffer.from('\x1b[1m'.repeat(1024)));
    expect(redactor.held).toBeLessThanOrEqual(MAX_HELD_BYTES + 8192);
  });

  it('follows a long secret to its end, also where it begins anew within itself', () => {
    const ab = fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 1, maxLength: 5 });
    const periodic = fc
      .tuple(ab, fc.nat({ max: 90 }), ab)
      .map(([unit, times, end]) => `${unit.repeat(Math.ceil(65 / unit.length) + times)}${end}`);
    const pieces = fc.array(fc.tuple(ab, fc.nat(400)), { maxLength: 6 });
    fc.assert(
      fc.property(periodic, pieces, places, (one, around, cuts) => {
        const text = around.map(([noise, start]) => `${noise}${one.slice(start % one.length)}${one}`).join('');
        const changed = through(cutAt(Buffer.from(`${text}.`), cuts), { secrets: [one] }).redacted.toString();
        for (let at = text.indexOf(one); at >= 0; at = text.indexOf(one, at + 1)) {
          expect(changed.slice(at, at + one.length)).toBe('*'.repeat(one.length));
        }
      }),
      { numRuns: 200 },
    );
  });

  it('takes no time that grows with a secret that repeats itself', () => {
    const one = 'a'.repeat(4096);
    expect(shown('a'.repeat(500_000), { secrets: [one, `${one.slice(1)}b`] })).toBe('*'.repeat(500_000));
  });
});

describe("An operator's patterns", () => {
  it('are looked for in each line, colours and wraps left out', () => {
    const patterns = ['employee-[0-9]{4}', 'pass(word)?: \\S+'];
    expect(shown('employee-\x1b[1m12\x1b[m34\r\npassword: secret\r\n', { patterns })).toBe(
      '*********\x1b[1m**\x1b[m**\r\n****************\r\n',
    );
    expect(shown('an employee-\r\n1234', { patterns, cols: 12 })).toBe('an *********\r\n****');
  });

  it('find what lies in the middle of a line without end', () => {
    const text = `${'x'.repeat(1000)}employee-1234${'x'.repeat(2000)}`;
    expect(shown(text, { patterns: ['employee-[0-9]{4}'] })).toBe(text.replace('employee-1234', '*'.repeat(13)));
  });

  it('that match nothing at all are refused', () => {
    expect(() => compilePattern('a*')).toThrow('matches the empty text');
    expect(() => compilePattern('(')).toThrow();
    expect(() => compilePattern('(a)\\1')).toThrow();
  });
});
