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
  }),
);
const as = (scope: Principal['scope']): Principal => ({ name: 'ada', scope, instances: undefined, sessions: undefined });

describe('control in words', () => {
  it('gives everyone a name of their own, whoever has control', () => {
    fc.assert(
      fc.property(standing, (now) => {
        const { controllers, observers } = now.members;
        const people = peopleIn(now);
        expect(new Set(people.map(({ name }) => name)).size).toBe(people.length);
        const moved = peopleIn({ ...now, members: { controllers: [], observers: [...observers, ...controllers] } });
        const named = (all: typeof people) => new Map(all.map(({ clientId, name }) => [clientId, name]));
        expect(named(moved)).toEqual(named(people));
      }),
    );
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
    };
    expect(offerOf(held, 'observer', as('pty:observe'))).toBeUndefined();
    expect(offerOf(held, 'observer', as('pty:control'))).toMatchObject({ act: 'none', text: 'ada has control' });
    expect(offerOf({ ...held, maxControllers: 2 }, 'observer', as('pty:control'))).toMatchObject({ act: 'take' });
    expect(offerOf(held, 'observer', as('pty:admin'))).toMatchObject({ act: 'take over' });
    expect(offerOf(held, 'controller', as('pty:control'))).toMatchObject({ act: 'give up' });
  });
});
