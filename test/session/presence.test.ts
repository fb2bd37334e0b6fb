// Who asks for control, who grants it and takes it back, and who is told.
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { presenceActs } from '../../src/protocol/names.js';
import type { PresenceState } from '../../src/protocol/presence.js';
import { Presence } from '../../src/session/presence.js';
import { Roster } from '../../src/session/roster.js';

const names = ['ada', 'bob', 'cleo', 'dora'];
let roster: Roster;
let presence: Presence;
/** What each was told, the newest last. */
let told: Record<string, PresenceState[]>;

function come(name: string, hearsPresence = true): void {
  const tell = (state: PresenceState) => void told[name]?.push(state);
  roster.join(name, { role: 'observer', mayControl: true, principal: name, hearsPresence }, { deliver: () => {}, dismiss: () => {}, tell });
}

beforeEach(() => {
  roster = new Roster({ maxControllers: 1, maxObservers: 9, firstRole: 'controller' });
  presence = new Presence(roster);
  told = Object.fromEntries(names.map((name) => [name, []]));
});

const controllers = () => roster.members().controllers.map(({ client_id }) => client_id);
const last = (name: string) => told[name]?.at(-1);
const refused = (code: string) => expect.objectContaining({ code });

describe('Asking for control', () => {
  beforeEach(() => {
    come('ada');
    come('bob');
    come('cleo', false);
  });

  it('is told to those who want to know, once, also to those who come later, until it is withdrawn', () => {
    presence.act('bob', 'ask', undefined);
    presence.act('bob', 'ask', undefined);
    expect(told).toMatchObject({ ada: [{ asking: ['bob'] }], bob: [{ asking: ['bob'] }], cleo: [] });
    come('dora');
    presence.greet('dora');
    expect(last('dora')).toEqual({ asking: ['bob'] });
    presence.act('bob', 'withdraw', undefined);
    expect(last('ada')).toEqual({ asking: [] });
  });

  it('is granted by who has control, who may take it back from that one alone', () => {
    presence.act('bob', 'ask', undefined);
    expect(() => presence.act('cleo', 'grant', 'bob')).toThrow(refused('PERMISSION_DENIED'));
    expect(presence.act('ada', 'grant', 'bob').map(({ clientId, role }) => [clientId, role])).toEqual([
      ['ada', 'observer'],
      ['bob', 'controller'],
    ]);
    expect(last('bob')).toEqual({ asking: [], lent_by: ['ada'] });
    expect(() => presence.act('cleo', 'take_back', undefined)).toThrow(refused('PERMISSION_DENIED'));
    presence.act('ada', 'take_back', undefined);
    expect([controllers(), last('ada')]).toEqual([['ada'], { asking: [] }]);
  });

  it('is answered by control itself where that is free: the first who asked has it', () => {
    for (const name of ['cleo', 'bob']) presence.act(name, 'ask', undefined);
    roster.leave('ada');
    expect(presence.heirs().map(({ clientId }) => clientId)).toEqual(['cleo']);
    expect([controllers(), presence.heirs()]).toEqual([['cleo'], []]);
  });

  it.each<[string, () => void]>([
    ['who takes it back', () => void presence.act('bob', 'withdraw', undefined)],
    ['who is declined', () => void presence.act('ada', 'decline', 'bob')],
    [
      'who is granted it, until it is taken back',
      () => void [presence.act('ada', 'grant', 'bob'), presence.act('ada', 'take_back', undefined)],
    ],
  ])('is told twice, and then once a second, of one %s', (_, answer) => {
    for (let asked = 0; asked < 2; asked++) {
      presence.act('bob', 'ask', undefined);
      answer();
      presence.rolesChanged();
    }
    const before = told.ada?.length;
    expect(() => presence.act('bob', 'ask', undefined)).toThrow(refused('RATE_LIMITED'));
    expect(told.ada).toHaveLength(before as number);
  });

  it('is for observers, and answered where somebody asks', () => {
    expect(() => presence.act('ada', 'ask', undefined)).toThrow(refused('PERMISSION_DENIED'));
    expect(() => presence.act('ada', 'grant', 'bob')).toThrow(refused('INVALID_REQUEST'));
    expect(() => presence.act('ada', 'decline', undefined)).toThrow(refused('INVALID_REQUEST'));
  });

  it('leaves nothing to be taken back when control has gone elsewhere', () => {
    presence.act('bob', 'ask', undefined);
    presence.act('ada', 'grant', 'bob');
    roster.moveControl('cleo');
    presence.rolesChanged();
    expect(last('ada')).toEqual({ asking: [] });
    expect(() => presence.act('ada', 'take_back', undefined)).toThrow(refused('PERMISSION_DENIED'));
  });
});

it('Whatever members do, those who ask are observers, nobody asks for what is free, no more than may have control, and only a watcher can take it back from who has it', () => {
  const step = fc.record({
    who: fc.constantFrom(...names),
    what: fc.constantFrom(...presenceActs, 'come', 'leave', 'observer', 'controller', 'move'),
    whom: fc.constantFrom(...names),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), fc.constantFrom(1, 2), (steps, maxControllers) => {
      roster = new Roster({ maxControllers, maxObservers: 9, firstRole: 'controller' });
      presence = new Presence(roster);
      told = Object.fromEntries(names.map((name) => [name, []]));
      for (const { who, what, whom } of steps) {
        try {
          if (what === 'come' && !roster.get(who)) come(who);
          else if (what === 'leave') roster.leave(who);
          else if (what === 'observer' || what === 'controller') roster.request(who, what);
          else if (what === 'move') roster.moveControl(who);
          else if (what !== 'come') presence.act(who, what, whom);
        } catch (error) {
          expect(error).toMatchObject({ name: 'Fault' });
        }
        presence.heirs();
        presence.rolesChanged();
        come('watcher');
        told.watcher = [];
        presence.greet('watcher');
        const { asking = [], lent_by } = last('watcher') ?? {};
        roster.leave('watcher');
        expect(controllers().length).toBeLessThanOrEqual(maxControllers);
        for (const name of asking) expect(roster.get(name)?.role).toBe('observer');
        if (asking.length > 0) expect(controllers()).toHaveLength(maxControllers);
        for (const name of lent_by ?? []) expect(roster.get(name)?.role).toBe('observer');
        expect(lent_by?.length ?? 0).toBeLessThanOrEqual(controllers().length);
      }
    }),
  );
});

it('Each of two who have lent control takes back their own', () => {
  roster = new Roster({ maxControllers: 2, maxObservers: 9, firstRole: undefined });
  presence = new Presence(roster);
  for (const name of names) come(name);
  for (const name of ['ada', 'cleo']) roster.request(name, 'controller');
  for (const name of ['bob', 'dora']) presence.act(name, 'ask', undefined);
  presence.act('ada', 'grant', 'bob');
  presence.act('cleo', 'grant', 'dora');
  expect(last('bob')).toEqual({ asking: [], lent_by: ['ada', 'cleo'] });
  presence.act('ada', 'take_back', undefined);
  expect([controllers(), last('bob')]).toEqual([['ada', 'dora'], { asking: [], lent_by: ['cleo'] }]);
});

it('All who type at the same time are told of', () => {
  for (const name of ['ada', 'bob', 'cleo']) come(name);
  for (let at = 0; at < 3000; at += 100) for (const name of ['ada', 'bob']) presence.typed(name, at);
  const typing = (told.cleo ?? []).map((state) => state.typing);
  expect(typing).toEqual(['ada', 'bob', 'ada', 'bob', 'ada', 'bob']);
});

it('Who has asked at another replica, which is gone, learns that nobody knows of it', () => {
  come('ada');
  presence.anew();
  expect(last('ada')).toEqual({ asking: [] });
});

it('Typing is told to the others, at most once a second', () => {
  come('ada');
  come('bob');
  for (const at of [0, 400, 999, 1000, 1500, 2100]) presence.typed('ada', at);
  expect(told).toMatchObject({ ada: [], bob: Array(3).fill({ asking: [], typing: 'ada' }) });
});

it('A message is typed by its principal, and told to all at most once a second', () => {
  for (const name of ['ada', 'bob']) come(name);
  for (const at of [0, 400, 1000]) presence.messageFrom('agent', at);
  const typed = Array(2).fill({ asking: [], message_from: 'agent' });
  expect(told).toMatchObject({ ada: typed, bob: typed });
});
