import { describe, expect, it } from 'vitest';
import { OWN, type Principal } from '../../src/access/principal.js';
import { VisibleSessions } from '../../src/access/visible-sessions.js';
import { newId } from '../../src/protocol/ids.js';
import type { ListedSession } from '../../src/session/listed-session.js';
import type { Session } from '../../src/session/session.js';

const principal = (sessions?: string[]): Principal => ({ name: 'alice', scope: 'pty:admin', instances: undefined, sessions });

/** Sessions by their ids, with who created them; and what was asked of them. */
function shelf(creators: Record<string, string>) {
  const asked: string[] = [];
  const session = (id: string) => ({ id }) as Session;
  const listed = (id: string) => ({ id, createdBy: creators[id] }) as ListedSession;
  return {
    asked,
    find: async (_: string, id: string) => {
      asked.push(`find ${id}`);
      return id in creators ? session(id) : undefined;
    },
    creatorOf: async (_: string, id: string) => {
      asked.push(`creatorOf ${id}`);
      return creators[id];
    },
    list: async () => Object.keys(creators).map(listed),
  };
}

describe('the sessions that a principal may see', () => {
  const [mine, theirs, nowhere] = [newId(), newId(), newId()];
  const creators = { [mine]: 'alice', [theirs]: 'bob' };

  it.each([
    ['no list', undefined, [mine, theirs]],
    ['an id', [theirs], [theirs]],
    ['own', [OWN], [mine]],
    ['own and an id', [theirs, OWN], [mine, theirs]],
    ['nothing', [], []],
  ])('with %s in the token are found and listed alike', async (_, sessions, expected) => {
    const visible = new VisibleSessions(shelf(creators), principal(sessions));
    expect((await visible.list('inst')).map(({ id }) => id).sort()).toEqual([...expected].sort());
    for (const id of [mine, theirs, nowhere])
      expect([id, (await visible.find('inst', id)).session?.id]).toEqual([id, expected.includes(id) ? id : undefined]);
  });

  it('are asked for their creator where that decides, and no others are opened: what is foreign costs what is unknown does', async () => {
    const costOf = async (id: string) => {
      const all = shelf(creators);
      await new VisibleSessions(all, principal([OWN])).find('inst', id);
      return all.asked.map((line) => line.replace(id, '<id>'));
    };
    expect(await costOf(theirs)).toEqual(['creatorOf <id>']);
    expect(await costOf(nowhere)).toEqual(['creatorOf <id>']);
  });
});
