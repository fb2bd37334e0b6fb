// What `type` promises, over cuts, demotions and refusals: in order, once, and told truly.
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ClientEnded, connectBy, type Fault, type TerminalClient } from '../../src/client/index.js';
import type { Dial } from '../../src/client/socket.js';
import { decodeInput } from '../../src/protocol/binary-codec.js';

type Payload = Record<string, unknown>;
interface Peer {
  send(op: string, payload: Payload, extra?: Payload): void;
  cut(): void;
}

/** A session of which one connection at a time has control, or not: what was typed there, and nothing else of it. */
class Desk {
  readonly typed: string[] = [];
  /** Of who joins. */
  role = 'controller';
  refusesNext = false;
  /** Whether it answers joins. */
  isOpen = true;
  #sequence = 0;
  #peer: Peer | undefined;
  #waiting: (() => void) | undefined;

  readonly dial: Dial = (_target, events) => {
    let over = false;
    const end = () => {
      if (over) return;
      over = true;
      if (this.#peer === peer) this.#peer = undefined;
      events.closed({ code: 1006, message: 'cut' });
    };
    const later = (act: () => void) => setTimeout(() => over || act(), 0);
    const peer: Peer = {
      send: (op, payload, extra = {}) =>
        void later(() => events.message(JSON.stringify({ op, id: randomUUID(), ts: new Date().toISOString(), payload, ...extra }))),
      cut: end,
    };
    later(() => {
      events.opened();
      peer.send('binding_hello', { session: { session_id: 's', current_sequence: 0 } });
    });
    return { send: (data) => void later(() => this.#take(peer, data)), close: end, drop: end };
  };

  open(): void {
    this.isOpen = true;
    this.#waiting?.();
    this.#waiting = undefined;
  }

  become(role: string): void {
    this.role = role;
    this.#assign();
  }

  cut(): void {
    this.#peer?.cut();
  }

  #take(peer: Peer, data: string | Uint8Array): void {
    if (data instanceof Uint8Array) this.#type(peer, new TextDecoder().decode(decodeInput(data)));
    else this.#answer(peer, JSON.parse(data));
  }

  #answer(peer: Peer, { op, id }: Payload): void {
    if (op === 'ping') peer.send('pong', {}, { id });
    if (op !== 'pty.join_session') return;
    this.#waiting = () => this.#join(peer);
    if (this.isOpen) this.open();
  }

  #join(peer: Peer): void {
    this.#peer = peer;
    this.#assign();
    const picture = { snapshot: '', snapshot_format: 'vt100-screen-state-v1', snapshot_cols: 80, snapshot_rows: 24, anchor_sequence: 0 };
    this.#frame({ kind: 'Keyframe', ...picture });
  }

  #type(peer: Peer, text: string): void {
    const mayType = this.#peer === peer && this.role === 'controller' && !this.refusesNext;
    this.refusesNext = false;
    if (mayType) this.typed.push(text);
    else peer.send('Error', { code: 'PERMISSION_DENIED', message: 'not now', retryable: false });
  }

  #assign(): void {
    this.#frame({ kind: 'RoleAssigned', role: this.role, client_id: 'c' });
  }

  #frame(payload: Payload): void {
    this.#sequence += 1;
    this.#peer?.send('pty.session_frame', payload, { sequence: this.#sequence });
  }
}

const reconnect = { firstMs: 0, maxMs: 0, attemptsBeforeLive: 1000 };
const connectTo = (desk: Desk): TerminalClient => connectBy(desk.dial, { url: 'ws://nowhere/attach', role: 'controller', reconnect });
const turn = () => new Promise((resolve) => setTimeout(resolve, 0));

describe('what is typed', () => {
  it('arrives once and in order if that is promised, and not at all if it is refused, whatever is cut, taken away or given back', async () => {
    const step = fc.constantFrom('type', 'type', 'type', 'wait', 'wait', 'cut', 'observer', 'controller', 'refuse');
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const desk = new Desk();
        const client = connectTo(desk);
        const became: Array<Promise<string>> = [];
        const type = () => {
          const typing = client.type(`${became.length}`);
          became.push(
            typing.then(
              () => 'typed',
              ({ code }: Fault) => code,
            ),
          );
        };
        const acts: Record<string, () => unknown> = {
          type,
          wait: turn,
          cut: () => desk.cut(),
          refuse: () => {
            desk.refusesNext = true;
          },
        };
        for (const each of steps) await (acts[each]?.() ?? (acts[each] ? undefined : desk.become(each)));
        const results = await Promise.all(became);
        const arrived = desk.typed.map(Number);
        expect(arrived).toEqual([...new Set(arrived)].sort((a, b) => a - b));
        results.forEach((result, at) => {
          if (result !== 'INTERNAL') expect([at, arrived.includes(at)]).toEqual([at, result === 'typed']);
        });
        client.close();
      }),
      { numRuns: 150 },
    );
  });

  it('waits until the client is in the session, as much of it as there is room for', async () => {
    const desk = new Desk();
    desk.isOpen = false;
    const client = connectTo(desk);
    expect(client.input('lost')).toBe(false);
    const first = client.type('first');
    const second = client.type('second');
    await expect(client.type(new Uint8Array(4 * 1024 * 1024))).rejects.toMatchObject({ code: 'RATE_LIMITED' });
    desk.open();
    await Promise.all([first, second]);
    expect(desk.typed).toEqual(['first', 'second']);
    client.close();
  });

  it('is given up with the signal or with the client, and then it is not typed later', async () => {
    const desk = new Desk();
    desk.isOpen = false;
    const client = connectTo(desk);
    const stop = new AbortController();
    const aborted = client.type('aborted', { signal: stop.signal });
    const next = client.type('next');
    stop.abort(new Error('enough'));
    await expect(aborted).rejects.toThrow('enough');
    desk.open();
    await next;
    desk.isOpen = false;
    desk.cut();
    const left = client.type('left');
    client.close();
    await expect(left).rejects.toBeInstanceOf(ClientEnded);
    expect(desk.typed).toEqual(['next']);
  });

  it('is refused to who only watches, or is leaving', async () => {
    const desk = new Desk();
    desk.role = 'observer';
    const client = connectTo(desk);
    await expect(client.type('x')).rejects.toMatchObject({
      code: 'PERMISSION_DENIED',
      message: 'this client only watches: nothing was typed',
    });
    const promoted = new Promise<void>((resolve) => client.on('role', () => resolve()));
    desk.become('controller');
    await promoted;
    await client.type('y');
    void client.leave();
    expect(client.input('z')).toBe(false);
    client.close();
    expect(desk.typed).toEqual(['y']);
  });
});
