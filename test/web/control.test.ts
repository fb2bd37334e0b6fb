// Who has control, in words.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Principal } from '../../src/access/principal.js';
import { newsOf, numbersOf, offerOf, peopleIn, type Standing } from '../../web/src/session/control.js';

const member = fc.record({ client_id: fc.uuid(), label: fc.constantFrom('ada', 'bob', 'grace') });
const numbered = (now: Omit<Standing, 'numbers'>): Standing => ({ ...now, numbers: numbersOf(now.members, now.self, new Map()) });
const standing: fc.Arbitrary<Standing> = fc.uniqueArray(member, { selector: ({ client_id }) => client_id, maxLength: 8 }).chain((all) =>
  fc
    .record({
      members: fc.nat(Math.min(1, all.length)).map((n) => ({ controllers: all.slice(0, n), observers: all.slice(n) })),
      self: fc.constantFrom(undefined, ...all.map(({ client_id }) => client_id)),
      former: fc.constant<string[]>([]),
      maxControllers: fc.constant(1),
      presence: fc.constant<Standing['presence']>({ asking: [] }),
    })
    .map(numbered),
);
const as = (scope: Principal['scope']): Principal => ({ name: 'ada', scope, instances: undefined, sessions: undefined });

describe('control in words', () => {
  it('gives all others a name of their own, whoever has control', () => {
    fc.assert(
      fc.property(standing, (now) => {
        const { controllers, observers } = now.members;
        const people = peopleIn(now);
        const others = people.filter(({ who }) => who !== 'you');
        expect(new Set(others.map(({ name }) => name)).size).toBe(others.length);
        const moved = peopleIn(numbered({ ...now, members: { controllers: [], observers: [...observers, ...controllers] } }));
        const named = (all: typeof people) => new Map(all.map(({ clientId, name }) => [clientId, name]));
        expect(named(moved)).toEqual(named(people));
      }),
    );
  });

  it('calls two windows of one person the same before and after one of them is loaded anew', () => {
    const ref = (client_id: string) => ({ client_id, label: 'ada' });
    const seen = (self: string, others: string[]) =>
      peopleIn(
        numbered({
          members: { controllers: [], observers: [self, ...others].map(ref) },
          self,
          former: [],
          maxControllers: 1,
          presence: { asking: [] },
        }),
      )
        .map(({ name, who }) => `${name} ${who}`)
        .sort();
    const views = [seen('1', ['2']), seen('2', ['1']), seen('3', ['2']), seen('2', ['3'])];
    for (const view of views) expect(view).toEqual(['ada (elsewhere) other', 'ada you']);
  });

  it('calls each window by the same number as long as it is there, whoever comes and goes', () => {
    const here = fc.subarray(['1', '2', '3', '4', '5', '6', '7']);
    fc.assert(
      fc.property(fc.array(here, { maxLength: 12 }), (course) => {
        let before: ReadonlyMap<string, number> = new Map();
        for (const ids of course) {
          const now = numbersOf({ controllers: [], observers: ids.map((client_id) => ({ client_id, label: 'ada' })) }, '7', before);
          for (const [id, number] of now) expect(before.get(id) ?? number).toBe(number);
          expect([...now.keys()].sort()).toEqual(ids.filter((id) => id !== '7'));
          expect(new Set(now.values()).size).toBe(now.size);
          before = now;
        }
      }),
    );
  });

  it('gives one of several who loads the page anew the number that they had', () => {
    const of = (...ids: string[]) => ({ controllers: [], observers: ids.map((client_id) => ({ client_id, label: 'ada' })) });
    const first = numbersOf(of('1', '2', '3'), '9', new Map());
    const gone = numbersOf(of('1', '3'), '9', first);
    expect(Object.fromEntries(numbersOf(of('1', '3', '4'), '9', gone))).toEqual({ 1: 1, 3: 3, 4: 2 });
  });

  it('names who types by a message among those who are here', () => {
    const now = numbered({
      members: { controllers: [], observers: [{ client_id: '2', label: 'bob' }] },
      self: '2',
      former: [],
      maxControllers: 1,
      presence: { asking: [], message_from: 'build\u202e-agent' },
    });
    expect(peopleIn(now).map(({ name, role }) => [name, role])).toEqual([
      ['build-agent', 'messenger'],
      ['bob', 'observer'],
    ]);
  });

  it('has news exactly when control is with somebody else', () => {
    fc.assert(
      fc.property(standing, standing, (before, now) => {
        const ids = ({ members }: Standing) => members.controllers.map(({ client_id }) => client_id);
        expect(newsOf(before, now) === undefined).toBe(ids(before).join() === ids(now).join());
      }),
    );
  });

  it('offers what the token can do: nothing, to take what is free, or to take it over', () => {
    const held = numbered({
      members: { controllers: [{ client_id: '1', label: 'ada' }], observers: [{ client_id: '2', label: 'bob' }] },
      self: '2',
      former: [],
      maxControllers: 1,
      presence: { asking: [] },
    });
    expect(offerOf(held, 'observer', as('pty:observe'))).toBeUndefined();
    expect(offerOf(held, 'observer', as('pty:control'))).toMatchObject({ act: 'ask', hint: 'ada has control' });
    expect(offerOf({ ...held, presence: { asking: ['2'] } }, 'observer', as('pty:control'))).toMatchObject({ act: 'withdraw' });
    expect(offerOf({ ...held, presence: { asking: [], lent_by: ['2'] } }, 'observer', as('pty:control'))).toMatchObject({
      act: 'take back',
    });
    expect(offerOf({ ...held, presence: { asking: [], lent_by: ['3'] } }, 'observer', as('pty:admin'))).toMatchObject({ act: 'take over' });
    expect(offerOf({ ...held, maxControllers: 2 }, 'observer', as('pty:control'))).toMatchObject({ act: 'take' });
    expect(offerOf(held, 'observer', as('pty:admin'))).toMatchObject({ act: 'take over' });
    expect(offerOf(held, 'controller', as('pty:control'))).toMatchObject({ act: 'give up' });
  });
});
