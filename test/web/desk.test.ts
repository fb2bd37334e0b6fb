// Sessions that are open beside each other.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Place } from '../../web/src/shared/place.js';
import { closed, type Desk, emptyDesk, inView, MAX_OPEN, neighbour, opened, tilings } from '../../web/src/workspace/desk.js';

const place: fc.Arbitrary<Place> = fc.record({
  instanceId: fc.constantFrom('a', 'b'),
  sessionId: fc.constantFrom('1', '2', '3', '4', '5', '6'),
  role: fc.constantFrom('controller' as const, 'observer' as const),
  follow: fc.boolean(),
});
type Step = (desk: Desk) => Desk;
const step: fc.Arbitrary<Step> = fc.oneof(
  place.map(
    (one): Step =>
      (desk) =>
        opened(desk, one),
  ),
  place.map(
    (one): Step =>
      (desk) =>
        closed(desk, one),
  ),
  fc.constantFrom(...tilings).map(
    (tiling): Step =>
      (desk) => ({ ...desk, tiling }),
  ),
  fc.constant<Step>((desk) => ({ ...desk, active: undefined })),
);
const desk = fc.array(step, { maxLength: 40 }).map((steps) => steps.reduce((now, act) => act(now), emptyDesk));
const idOf = ({ instanceId, sessionId }: Place) => `${instanceId}/${sessionId}`;

describe('open sessions', () => {
  it('are each open once, so many at most, and the active one is among those in view', () => {
    fc.assert(
      fc.property(desk, (now) => {
        expect(new Set(now.open.map(idOf)).size).toBe(now.open.length);
        expect(now.open.length).toBeLessThanOrEqual(MAX_OPEN);
        expect(inView(now).length).toBeLessThanOrEqual(now.tiling);
        if (now.active) expect(inView(now)).toContain(now.active);
        else expect(inView(now)).toEqual([]);
      }),
    );
  });

  it('are opened as they were asked for last, and are there until they are closed', () => {
    fc.assert(
      fc.property(desk, place, (before, one) => {
        const now = opened(before, one);
        expect(now.active).toEqual(one);
        expect(now.open).toContainEqual(one);
        expect(closed(now, one).open.map(idOf)).not.toContain(idOf(one));
      }),
    );
  });

  it('are gone through in a ring, forth and back', () => {
    fc.assert(
      fc.property(desk, (now) => {
        const { open, active } = now;
        fc.pre(open.length > 0);
        const seen = [...open].reduce<Desk[]>((walk) => [...walk, { ...now, active: neighbour(walk.at(-1) ?? now, 1) }], []);
        expect(new Set(seen.map((each) => idOf(each.active as Place))).size).toBe(open.length);
        if (active) expect(neighbour({ ...now, active: neighbour(now, 1) }, -1)).toEqual(active);
      }),
    );
  });
});
