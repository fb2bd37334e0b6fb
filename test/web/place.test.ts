// The address of a session in the page's fragment.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fragmentOf, type Place, readFragment } from '../../web/src/shared/place.js';

const id = fc.stringMatching(/^[A-Za-z0-9._-]{1,64}$/);
const place: fc.Arbitrary<Place> = fc.record(
  {
    instanceId: id,
    sessionId: id,
    role: fc.constantFrom('controller', 'observer'),
    follow: fc.boolean(),
    at: fc.integer({ min: 0, max: 1_000_000_000 }).map((ms) => ms / 1000),
  },
  { requiredKeys: ['instanceId', 'sessionId', 'role', 'follow'] },
);

describe('the fragment of the page', () => {
  it('opens the place that it was made of', () => {
    fc.assert(
      fc.property(place, (made) => {
        expect(readFragment(fragmentOf(made))).toEqual({ token: undefined, place: made, open: undefined });
      }),
    );
  });

  it('carries a token beside a session, in any order', () => {
    fc.assert(
      fc.property(place, fc.stringMatching(/^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+){2}$/), (made, token) => {
        const session = fragmentOf(made).slice(1);
        expect(readFragment(`#token=${token}&${session}`)).toEqual({ token, place: made, open: undefined });
        expect(readFragment(`#${session}&token=${token}`)).toEqual({ token, place: made, open: undefined });
      }),
    );
  });

  it('plays from the beginning where the moment is none', () => {
    for (const t of ['', 'x', '-1', '1e3', '9999999999']) expect(readFragment(`#session=a/b&t=${t}`).place?.at).toBe(0);
  });

  it('names an agent to be opened, unless it names a session', () => {
    fc.assert(
      fc.property(id, place, (open, made) => {
        expect(readFragment(`#token=t&open=${open}`)).toEqual({ token: 't', place: undefined, open });
        expect(readFragment(`${fragmentOf(made)}&open=${open}`).open).toBeUndefined();
      }),
    );
  });

  it('names no place when it is anything else', () => {
    for (const hash of ['', '#', '#session=', '#session=only', '#session=a/b/c', '#session=/b', '#nothing', '#token=']) {
      expect(readFragment(hash)).toEqual({ token: undefined, place: undefined, open: undefined });
    }
    fc.assert(fc.property(fc.string(), (text) => void readFragment(text)));
  });
});
