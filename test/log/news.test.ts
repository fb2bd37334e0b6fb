// What a batch tells of itself is heard whole, in one message or with its bodies after it, from wherever one begins to listen.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type Draft, isEntry } from '../../src/log/log.js';
import { entriesOf, type Message, Messages, newsOf } from '../../src/log/redis/news.js';

const LIVE = 'live';
interface Part {
  readonly channel: string;
  readonly bytes: Buffer;
}

const body = fc.oneof(
  fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes)),
  fc.constant(Buffer.from('{"first":1,"calls":[[1,1]],"entries":[[1,"Output","id",0,0]],"places":[]}\n1\n')),
);
const draft: fc.Arbitrary<Draft> = fc.oneof(
  { arbitrary: body.map((bytes) => ({ kind: 'Output', id: 'id', ts: 1, body: bytes })), weight: 3 },
  fc.constant({ to: 'somebody' }),
);
const batch = fc.record({
  calls: fc.array(fc.array(draft, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 3 }),
  joined: fc.boolean(),
});

/** As the script announces it. */
function said(calls: readonly (readonly Draft[])[], first: number, joined: boolean): Part[] {
  const { news, bodies } = newsOf(calls, first);
  const head = Buffer.from(`${news}\n${calls.map(() => 1).join(',')}\n`);
  if (joined) return [{ channel: LIVE, bytes: Buffer.concat([head, ...bodies]) }];
  return [{ channel: LIVE, bytes: head }, ...bodies.map((bytes) => ({ channel: 'bodies', bytes: Buffer.from(bytes) }))];
}

const plain = ({ calls }: Pick<Message, 'calls'>) =>
  calls.map(({ entries, extent, places }) => ({
    entries: entries.map((each) => ({ ...each, body: Buffer.from(each.body).toString('hex') })),
    current: extent.current,
    places,
  }));

it('is heard whole and as it was said, from wherever one begins to listen', () => {
  fc.assert(
    fc.property(fc.array(batch, { minLength: 1, maxLength: 4 }), fc.nat(), (batches, place) => {
      let next = 1;
      const all = batches.map(({ calls, joined }) => {
        const first = next;
        const told = calls.map((drafts) => {
          const from = next;
          next += drafts.length;
          const places = drafts.flatMap((each, i) => (isEntry(each) ? [] : [{ to: each.to, sequence: from + i }]));
          return { entries: entriesOf(drafts, from), extent: { oldest: 1, current: next - 1 }, places };
        });
        const hasBytes = calls.flat().some((each) => isEntry(each) && each.body.length > 0);
        return { told, parts: said(calls, first, joined || !hasBytes) };
      });
      const parts = all.flatMap((each) => each.parts);
      const begin = place % parts.length;
      const messages = new Messages();
      const heard = parts.slice(begin).flatMap(({ channel, bytes }) => {
        const message = channel === LIVE ? messages.hearNews(bytes) : messages.hearBody(bytes);
        expect(message).not.toBe('unreadable');
        return message && message !== 'unreadable' ? [plain(message)] : [];
      });
      const whole = all.filter((each) => parts.indexOf(each.parts[0] as Part) >= begin);
      expect(heard).toEqual(whole.map(({ told }) => plain({ calls: told })));
    }),
  );
});
