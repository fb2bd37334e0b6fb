// What attach does to bytes on their way: the detach keys are found, old questions are cut out, and nothing else is changed.
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { DetachFilter, parseDetachKeys } from '../../src/cli/detach-keys.js';
import { QueryFilter } from '../../src/cli/terminal-queries.js';

const bytes = (text: string) => Buffer.from(text, 'latin1');

/** Types the pieces; what came through, and whether it detached. */
function type(keys: string, pieces: readonly string[]) {
  let typed = '';
  let detached = 0;
  const filter = new DetachFilter(parseDetachKeys(keys), {
    typed: (some) => {
      typed += Buffer.from(some).toString('latin1');
    },
    detach: () => {
      detached += 1;
    },
  });
  for (const piece of pieces) if (!detached) filter.take(bytes(piece));
  filter.stop();
  return { typed, detached };
}

describe('detach keys', () => {
  it.each([
    [['\x1dd'], ''],
    [['\x1d', 'd'], ''],
    [['abc\x1d\x1dd'], 'abc\x1d'],
    [['\x1b[93;5u', 'd'], ''],
    [['\x1b[27;5;93~d'], ''],
    [['\x1b[93;5u\x1b[100u'], ''],
  ])('are found in %j', (pieces, typed) => {
    expect(type('ctrl-],d', pieces)).toEqual({ typed, detached: 1 });
  });

  it('let everything else through as it is, wherever it is cut', () => {
    const keys = fc.constantFrom('\x1d', 'd', '\x1b', '[', '9', '3', 'u', ';', '5', 'x', '\xe4');
    fc.assert(
      fc.property(fc.array(fc.string({ unit: keys, maxLength: 6 })), (pieces) => {
        const { typed, detached } = type('ctrl-],d', [...pieces, 'x']);
        if (!detached) expect(typed).toBe(`${pieces.join('')}x`);
        else expect(`${pieces.join('')}x`.startsWith(typed)).toBe(true);
      }),
    );
  });

  it('hold back no escape key: only a whole first key waits for the second', () => {
    expect(type('ctrl-],d', ['\x1b'])).toEqual({ typed: '\x1b', detached: 0 });
  });

  it('type the first key after all when nothing follows', () => {
    vi.useFakeTimers();
    let typed = '';
    const filter = new DetachFilter(parseDetachKeys('ctrl-],d'), {
      typed: (some) => {
        typed += Buffer.from(some).toString('latin1');
      },
      detach: () => {},
    });
    filter.take(bytes('\x1d'));
    expect(typed).toBe('');
    vi.runAllTimers();
    expect(typed).toBe('\x1d');
    vi.useRealTimers();
  });

  it.each(['', 'ctrl-1', 'ctrl-', 'ab', 'a,b,c,d,e', 'é'])('refuse %j', (text) => {
    expect(() => parseDetachKeys(text)).toThrow(/expected/);
  });
});

const queries = [
  '\x1b[c',
  '\x1b[0c',
  '\x1b[>c',
  '\x1b[=c',
  '\x1b[5n',
  '\x1b[6n',
  '\x1b[?6n',
  '\x1b[?2026$p',
  '\x1b[4$p',
  '\x1b[>q',
  '\x1b[>0q',
  '\x1b[?u',
  '\x1b[14t',
  '\x1b[18t',
  '\x1b[1x',
  '\x05',
  '\x1bZ',
  '\x1b]10;?\x07',
  '\x1b]11;?\x1b\\',
  '\x1b]4;1;?\x07',
  '\x1b]52;c;?\x07',
  '\x1bP+q544e\x1b\\',
  '\x1bP$qm\x1b\\',
];
const others = [
  'text',
  '\r\n',
  '\x1b[31m',
  '\x1b[?1049h',
  '\x1b[2J',
  '\x1b]0;a title?\x07',
  '\x1b]8;;http://x/?a\x07',
  '\x1b[4;1H',
  '\x1b[22;0t',
  '\x1b[2 q',
  'ü',
];

describe('the past', () => {
  it('asks nothing again, and is the same but for that, wherever it is cut', () => {
    const piece = fc.oneof(fc.constantFrom(...queries), fc.constantFrom(...others));
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), fc.array(fc.nat(8)), (pieces, cuts) => {
        const filter = new QueryFilter();
        let rest = pieces.join('');
        let out = '';
        for (const cut of [...cuts, rest.length]) {
          out += Buffer.from(filter.take(bytes(rest.slice(0, cut)))).toString('latin1');
          rest = rest.slice(cut);
        }
        out += Buffer.from(filter.end()).toString('latin1');
        expect(out + rest).toBe(pieces.filter((each) => !queries.includes(each)).join(''));
      }),
      { numRuns: 500 },
    );
  });

  it('loses no bytes, however long an unfinished sequence gets', () => {
    const filter = new QueryFilter();
    const long = `\x1b]52;c;${'a'.repeat(1000)}`;
    const out = [...long].map((char) => Buffer.from(filter.take(bytes(char))).toString('latin1')).join('');
    expect(out + Buffer.from(filter.end()).toString('latin1')).toBe(long);
  });
});
