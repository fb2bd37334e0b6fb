// What a replica may believe of the others, whatever Redis does.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Sign } from '../../src/redis/directory.js';
import { Peers } from '../../src/redis/peers.js';

const BEAT = 100;
const LEASE = 6 * BEAT;
const BLIND = 2 * BEAT;

const sign = (beat: number): Sign => ({ life: 'l', isDead: false, leaseMs: LEASE, text: `l ${beat} ${LEASE}` });

/** One beat's time: Redis is there or not; if there, whether the other beat before it was looked; and whether Redis has lost all signs before. */
const tick = fc.record({ isThere: fc.boolean(), beatsFirst: fc.boolean(), loses: fc.boolean() });

it('nobody who beats whenever Redis is there is ever overdue', () => {
  fc.assert(
    fc.property(fc.array(fc.record({ tick, repeat: fc.integer({ min: 1, max: 20 }) })), (stretches) => {
      const peers = new Peers(BLIND);
      let signs = new Map([['b', sign(0)]]);
      let now = 0;
      for (const { isThere, beatsFirst, loses } of stretches.flatMap(({ tick, repeat }) => Array.from({ length: repeat }, () => tick))) {
        now += BEAT;
        if (loses && !isThere) signs = new Map();
        if (!isThere) continue;
        if (beatsFirst) signs = new Map([['b', sign(now)]]);
        expect(peers.look({ askedAt: now, seenAt: now, signs }).overdue).toEqual([]);
        signs = new Map([['b', sign(now + 1)]]);
      }
    }),
  );
});

it('one who stops beating is overdue after a lease in which it could be seen, and not before', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 2 * BLIND }), { minLength: 1 }), (pauses) => {
      const peers = new Peers(BLIND);
      const signs = new Map([['b', sign(0)]]);
      let now = 0;
      let since = 0;
      peers.look({ askedAt: 0, seenAt: 0, signs });
      for (const pause of [...pauses, BLIND, BLIND, BLIND, BLIND]) {
        now += pause;
        if (pause > BLIND) since = now;
        const { overdue } = peers.look({ askedAt: now, seenAt: now, signs });
        expect(overdue.length > 0).toBe(now - since > LEASE);
      }
      expect(peers.ids()).toEqual(['b']);
    }),
  );
});

it('a death that is written is believed at once and once, and another life is born', () => {
  const peers = new Peers(BLIND);
  const look = (text: string | undefined, life = 'l') =>
    peers.look({
      askedAt: 0,
      seenAt: 0,
      signs: new Map(text === undefined ? [] : [['b', { ...sign(0), life, text, isDead: text.includes('dead') }]]),
    });
  expect(look('l 1 600')).toMatchObject({ died: [], born: ['b'] });
  expect(look('l dead 7')).toMatchObject({ died: ['b'], born: [] });
  expect(look('l dead 7')).toMatchObject({ died: [], born: [] });
  expect(look('m 0 600', 'm')).toMatchObject({ died: [], born: ['b'] });
  expect(look('n 0 600', 'n')).toMatchObject({ died: ['b'], born: ['b'] });
});

it('a life that is over stays so, also when Redis has forgotten its death: it is to be buried again', () => {
  const peers = new Peers(BLIND);
  const look = (sign: Sign) => peers.look({ askedAt: 0, seenAt: 0, signs: new Map([['b', sign]]) });
  look(sign(1));
  look({ ...sign(1), isDead: true });
  expect(look(sign(2))).toEqual({ died: [], born: [], overdue: [{ id: 'b', life: 'l', sign: sign(2) }] });
  expect(peers.ids()).toEqual([]);
});
