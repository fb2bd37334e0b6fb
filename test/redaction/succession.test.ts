import { afterEach, describe, expect, it } from 'vitest';
import type { Session } from '../../src/session/session.js';
import { agent, Watcher } from '../support/house.js';
import { openStreet, type Street } from '../support/street.js';

const SECRET = 'correct+horse/battery=staple-42';
const lasting = agent({ policy: { reattach: ['/bin/bash', '-c', 'echo back; exec /bin/bash --noprofile --norc'] } });

let town: Street;
afterEach(() => town.close());

/** A session with a secret at the first replica, watched and controlled from the second. */
async function watched(): Promise<{ readonly session: Session; readonly watcher: Watcher }> {
  const session = await town.sessions('first').create(lasting, { secrets: [SECRET] }, 'someone');
  const elsewhere = (await town.sessions('second').find('inst', session.id)) as Session;
  expect(elsewhere.describe()).toMatchObject({ sensitive: true });
  expect(JSON.stringify(elsewhere.describe())).not.toContain(SECRET);
  return { session, watcher: await Watcher.join(elsewhere) };
}

describe('A session with a secret whose replica dies', () => {
  it('is closed where nothing that is stored is sealed: nobody could conceal the secret', async () => {
    town = await openStreet(['first', 'second'], [lasting]);
    const { watcher } = await watched();
    town.kill('first');
    await watcher.until(() => watcher.kinds().includes('Closed'));
    expect(watcher.payloads('Closed')).toMatchObject([{ reason: 'agent_disconnect' }]);
  });

  it('goes on elsewhere where it is, and conceals the secret there', async () => {
    town = await openStreet(['first', 'second'], [lasting], undefined, [{ kid: 'k', key: new Uint8Array(32) }]);
    const { watcher, session } = await watched();
    town.kill('first');
    await watcher.until(() => watcher.output().includes('back\r\n'));
    await watcher.type(`echo ${SECRET} aft''er\n`);
    await watcher.until(() => watcher.output().includes(`${'*'.repeat(SECRET.length)} after\r\n`));
    expect(watcher.output()).not.toContain(SECRET);
    expect((await town.sessions('second').find('inst', session.id))?.describe()).toMatchObject({ sensitive: true, replica_id: 'second' });
  });
});

describe('A session with a secret whose replica drains', () => {
  it('stays there to its end where nothing that is stored is sealed', async () => {
    town = await openStreet(['first', 'second'], [lasting]);
    const { watcher } = await watched();
    await town.sessions('first').close();
    await watcher.until(() => watcher.kinds().includes('Closed'));
    expect(watcher.payloads('Closed')).toMatchObject([{ reason: 'instance_terminated' }]);
  });
});
