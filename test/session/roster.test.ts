import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Fault } from '../../src/errors.js';
import { Roster } from '../../src/session/roster.js';
import type { JoinRequest, Member } from '../../src/session/session.js';

const member: Member = { deliver: () => {}, dismiss: () => {} };
const asks = (role: JoinRequest['role'], mayControl = true): JoinRequest => ({ role, mayControl, principal: 'p' });
const fresh = (limits: Partial<ConstructorParameters<typeof Roster>[0]> = {}) =>
  new Roster({ maxControllers: 1, maxObservers: 2, firstRole: 'controller', ...limits });

describe('The roster of a session', () => {
  it('makes the first member controller whatever it asks for, and only the first ever', () => {
    const roster = fresh();
    expect(roster.join('a', asks('observer'), member)).toEqual({ role: 'controller' });
    roster.leave('a');
    expect(roster.join('b', asks('observer'), member)).toEqual({ role: 'observer' });
  });

  it('honours what is asked for where the first role was assigned before', () => {
    const roster = fresh({ firstRole: undefined });
    expect(roster.join('a', asks('observer'), member).role).toBe('observer');
    expect(roster.join('b', asks('controller'), member).role).toBe('controller');
  });

  it('downgrades, with a reason, who may not control and who comes too late', () => {
    const roster = fresh();
    expect(roster.join('a', asks('controller', false), member)).toMatchObject({
      role: 'observer',
      downgraded: expect.stringMatching(/scope/),
    });
    expect(roster.join('b', asks('controller'), member)).toEqual({ role: 'controller' });
    expect(roster.join('c', asks('controller'), member)).toMatchObject({
      role: 'observer',
      downgraded: expect.stringMatching(/controllers/),
    });
  });

  it('refuses observers above the limit, without letting them in', () => {
    const roster = fresh({ maxObservers: 0 });
    roster.join('a', asks('controller'), member);
    expect(() => roster.join('b', asks('observer'), member)).toThrowError(
      expect.objectContaining({ code: 'RATE_LIMITED', retryable: true }),
    );
    expect(roster.get('b')).toBeUndefined();
  });

  it('refuses the role controller to a principal that may only observe', () => {
    const roster = fresh();
    roster.join('a', asks('observer', false), member);
    expect(() => roster.request('a', 'controller')).toThrowError(expect.objectContaining({ code: 'PERMISSION_DENIED' }));
  });

  it('moves the lease: the others become observers, and it says whose role has changed', () => {
    const roster = fresh({ maxControllers: 2, maxObservers: 3 });
    for (const id of ['a', 'b', 'c']) roster.join(id, asks('controller'), member);
    expect(roster.moveControl('c').map((a) => [a.clientId, a.role])).toEqual([
      ['a', 'observer'],
      ['b', 'observer'],
      ['c', 'controller'],
    ]);
    expect(roster.moveControl(null).map((a) => a.clientId)).toEqual(['c']);
    expect(roster.moveControl('a').map((a) => a.clientId)).toEqual(['a']);
    expect(() => roster.moveControl('nobody')).toThrowError(expect.objectContaining({ status: 404 }));
  });

  it('never has more controllers or, but for a moved lease, more observers than it may, and lists each member once', () => {
    const step = fc.record({
      do: fc.constantFrom('join', 'leave', 'controller', 'observer'),
      who: fc.integer({ min: 0, max: 6 }),
      role: fc.constantFrom<'controller' | 'observer'>('controller', 'observer'),
      mayControl: fc.boolean(),
    });
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 60 }),
        fc.integer({ min: 1, max: 3 }),
        fc.integer({ min: 0, max: 3 }),
        (steps, maxControllers, maxObservers) => {
          const roster = fresh({ maxControllers, maxObservers });
          for (const s of steps) {
            const id = `c${s.who}`;
            try {
              if (s.do === 'join' && !roster.get(id)) roster.join(id, asks(s.role, s.mayControl), member);
              else if (s.do === 'leave') roster.leave(id);
              else if (s.do !== 'join') roster.request(id, s.do as 'controller' | 'observer');
            } catch (error) {
              expect(error).toBeInstanceOf(Fault);
            }
            const { controllers, observers } = roster.members();
            expect(controllers.length).toBeLessThanOrEqual(maxControllers);
            expect(observers.length).toBeLessThanOrEqual(maxObservers);
            expect([...controllers, ...observers].map((m) => m.client_id).sort()).toEqual(
              roster
                .all()
                .map((a) => a.clientId)
                .sort(),
            );
            expect(roster.all().every((a) => a.role === 'observer' || a.mayControl)).toBe(true);
          }
        },
      ),
    );
  });
});
