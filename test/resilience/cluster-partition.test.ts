// What clients see when one replica alone is cut off, or sleeps, for longer than its lease. Knows a session from outside alone.
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type Gateways, type Replica, startGateways, tokenFor } from '../support/gateways.js';
import { needs } from '../support/needs.js';
import { Onlooker } from '../support/onlooker.js';
import { until } from '../support/redis.js';

// Several processes start and die in each test, and the machine may be busy with others.
vi.setConfig({ testTimeout: 90_000 });

needs('redis-server', 'redis-cli')('of two replicas', () => {
  let gateways: Gateways;
  let owner: Replica;
  let other: Replica;
  const open: Onlooker[] = [];
  const look = async (id: string, replica: Replica, role: 'controller' | 'observer' = 'observer') => {
    const onlooker = new Onlooker({ url: gateways.urlOf(id, replica), token: tokenFor(replica.id, 'pty:control'), role });
    open.push(onlooker);
    await onlooker.isLive();
    return onlooker;
  };

  beforeEach(async () => {
    gateways = await startGateways({ wired: true });
    [owner, other] = [gateways.at(0), gateways.at(1)];
  });
  afterEach(async () => {
    for (const { client } of open.splice(0)) client.close();
    await gateways.dispose();
  });

  /** What keeps the replica that serves the controller from its lease, and how that ends. */
  const absences = {
    'loses Redis': [() => gateways.wires[1]?.cut(), () => gateways.wires[1]?.mend()],
    sleeps: [() => other.signal('SIGSTOP'), () => other.signal('SIGCONT')],
  } as const;

  it.each(['loses Redis', 'sleeps'] as const)(
    'the one that serves the controller %s: the control is free, and its client is in the session again afterwards',
    async (absence) => {
      const [begin, end] = absences[absence];
      const id = await gateways.begin(owner);
      const typist = await look(id, other, 'controller');
      const heir = await look(id, owner);
      begin();
      await until('the client of the lost replica has left', () => heir.client.members.controllers.length === 0);
      heir.client.input('nobody hears this\n');
      await heir.client.requestRole('controller');
      heir.client.input('echo heir-$((6*7))\n');
      await heir.sees('heir-42');
      end();
      await typist.sees('heir-42');
      await until('both are members', () =>
        [typist, heir].every(({ client: { members } }) => members.observers.length === 1 && members.controllers.length === 1),
      );
      expect(typist.text).toBe(heir.text);
      heir.client.close();
      await until('the control is free', () => typist.client.members.controllers.length === 0 || typist.client.role === 'controller');
      await typist.client.requestRole('controller');
      typist.client.input('echo typist-$((7*7))\n');
      await typist.sees('typist-49');
    },
  );

  it('the one that runs the terminal loses Redis: nothing is shown that is not kept, and the session is closed once', async () => {
    const id = await gateways.begin(owner, '/bin/bash', '-c', 'for ((i = 1; ; i++)); do echo n$i; sleep 0.02; done');
    const at = await look(id, owner);
    const elsewhere = await look(id, other);
    await Promise.all([at.sees('n20\r\n'), elsewhere.sees('n20\r\n')]);
    gateways.wires[0]?.cut();
    await until('the session is closed elsewhere', () => elsewhere.closed.length > 0);
    expect(at.closed).toEqual([]);
    gateways.wires[0]?.mend();
    await until('the session is closed for the clients of the owner, too', () => at.closed.length > 0);
    for (const { closed, numbers, text } of [at, elsewhere]) {
      expect(closed.map(({ reason }) => reason)).toEqual(['agent_disconnect']);
      expect({ numbers, text }).toEqual({ numbers: elsewhere.numbers, text: elsewhere.text });
    }
    await until('it takes work', () => owner.isReady());
  });
});
