// What attach does to what is typed: the detach keys are found, and nothing else is changed.
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { DetachFilter, parseDetachKeys } from '../../src/cli/detach-keys.js';

const bytes = (text: string) => Buffer.from(text, 'latin1');

/** Types the pieces; what came through, and whether it detached. */
function type(keys: string, pieces: readonly string[]) {
  let typed = '';
  let detached = 0;
  let suspended = 0;
  const filter = new DetachFilter(parseDetachKeys(keys), {
    typed: (some) => {
      typed += Buffer.from(some).toString('latin1');
    },
    detach: () => {
      detached += 1;
    },
    suspend: () => {
      suspended += 1;
    },
  });
  for (const piece of pieces) if (!detached) filter.take(bytes(piece));
  filter.stop();
  return { typed, detached, suspended };
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
    expect(type('ctrl-],d', pieces)).toEqual({ typed, detached: 1, suspended: 0 });
  });

  it('stop the job instead with ctrl-z for the last of them, as often as it is typed, unless one key alone detaches', () => {
    expect(type('ctrl-],d', ['a\x1d\x1a', 'b\x1d', '\x1b[122;5u', 'c\x1a'])).toEqual({ typed: 'abc\x1a', detached: 0, suspended: 2 });
    expect(type('ctrl-],ctrl-z', ['\x1d\x1a'])).toEqual({ typed: '', detached: 1, suspended: 0 });
    expect(type('ctrl-q', ['\x1a'])).toEqual({ typed: '\x1a', detached: 0, suspended: 0 });
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
    expect(type('ctrl-],d', ['\x1b'])).toEqual({ typed: '\x1b', detached: 0, suspended: 0 });
  });

  it('type the first key after all when nothing follows', () => {
    vi.useFakeTimers();
    let typed = '';
    const filter = new DetachFilter(parseDetachKeys('ctrl-],d'), {
      typed: (some) => {
        typed += Buffer.from(some).toString('latin1');
      },
      detach: () => {},
      suspend: () => {},
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
