// Who has control, in words.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Principal } from '../../src/access/principal.js';
import { newsOf, offerOf, peopleIn, type Standing } from '../../web/src/session/control.js';

const member = fc.record({ client_id: fc.uuid(), label: fc.constantFrom('ada', 'bob', 'grace') });
const standing: fc.Arbitrary<Standing> = fc.uniqueArray(member, { selector: ({ client_id }) => client_id, maxLength: 8 }).chain((all) =>
  fc.record({
    members: fc.nat(Math.min(1, all.length)).map((n) => ({ controllers: all.slice(0, n), observers: all.slice(n) })),
    self: fc.constantFrom(undefined, ...all.map(({ client_id }) => client_id)),
    former: fc.constant<string[]>([]),
    maxControllers: fc.constant(1),
    presence: fc.constant({ asking: [] }),
  }),
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
        const moved = peopleIn({ ...now, members: { controllers: [], observers: [...observers, ...controllers] } });
        const named = (all: typeof people) => new Map(all.map(({ clientId, name }) => [clientId, name]));
        expect(named(moved)).toEqual(named(people));
      }),
    );
  });

  it('calls two windows of one person the same before and after one of them is loaded anew', () => {
    const ref = (client_id: string) => ({ client_id, label: 'ada' });
    const seen = (self: string, others: string[]) =>
      peopleIn({
        members: { controllers: [], observers: [self, ...others].map(ref) },
        self,
        former: [],
        maxControllers: 1,
        presence: { asking: [] },
      })
        .map(({ name, who }) => `${name} ${who}`)
        .sort();
    const views = [seen('1', ['2']), seen('2', ['1']), seen('3', ['2']), seen('2', ['3'])];
    for (const view of views) expect(view).toEqual(['ada (elsewhere) other', 'ada you']);
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
    const held: Standing = {
      members: { controllers: [{ client_id: '1', label: 'ada' }], observers: [{ client_id: '2', label: 'bob' }] },
      self: '2',
      former: [],
      maxControllers: 1,
      presence: { asking: [] },
    };
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
