import { describe, expect, it } from 'vitest';
import { type Clock, HOLD_MS, LETTER_MS, RedactedStream, TYPED_MS } from '../../src/redaction/redacted-stream.js';
import { Redactor } from '../../src/redaction/redactor.js';
import { seek } from '../../src/redaction/sought.js';

/** A clock that is moved by hand. */
class HandClock implements Clock {
  #now = 0;
  #alarms: Array<{ at: number; ring: () => void }> = [];

  now(): number {
    return this.#now;
  }

  after(ms: number, ring: () => void): () => void {
    const alarm = { at: this.#now + ms, ring };
    this.#alarms.push(alarm);
    return () => {
      this.#alarms = this.#alarms.filter((other) => other !== alarm);
    };
  }

  forward(ms: number): void {
    this.#now += ms;
    for (const alarm of this.#alarms.filter(({ at }) => at <= this.#now)) {
      this.#alarms = this.#alarms.filter((other) => other !== alarm);
      alarm.ring();
    }
  }

  get isSet(): boolean {
    return this.#alarms.length > 0;
  }
}

function open(emit?: (bytes: Uint8Array) => void) {
  const clock = new HandClock();
  const out: string[] = [];
  const errors: unknown[] = [];
  const redactor = new Redactor(seek(['hunter22', 'zzzzzzzz']), [], 80, emit ?? ((bytes) => out.push(Buffer.from(bytes).toString())));
  const stream = new RedactedStream(redactor, (error) => errors.push(error), clock);
  return { clock, out, errors, stream, print: (text: string) => stream.push(Buffer.from(text)) };
}

describe('A redacted stream', () => {
  it('lets a false start go when it has waited for its time', () => {
    const { clock, out, print } = open();
    print('my hun');
    clock.forward(HOLD_MS - 1);
    expect(out).toEqual(['my ']);
    clock.forward(1);
    expect(out).toEqual(['my ', 'hun']);
    expect(clock.isSet).toBe(false);
  });

  it('counts from when the oldest byte that waits has come', () => {
    const { clock, out, print } = open();
    print('hu');
    clock.forward(HOLD_MS - 4);
    print('zz');
    clock.forward(4);
    expect(out).toEqual(['hu']);
    clock.forward(HOLD_MS - 5);
    expect(out).toEqual(['hu']);
    clock.forward(1);
    expect(out).toEqual(['hu', 'zz']);
  });

  it('gives the first letters no more time because others follow them', () => {
    const { clock, out, print } = open();
    print('h');
    for (const letter of 'unter') {
      clock.forward(6);
      print(letter);
    }
    expect(out.join('')).not.toBe('');
  });

  it('shows three letters of a secret that is typed letter by letter', () => {
    const { clock, out, print } = open();
    for (const letter of 'hunter22') {
      print(letter);
      clock.forward(LETTER_MS - 1);
    }
    expect(out.join('')).toBe('hun*****');
  });

  it('lets go at once what turns out to be no secret, and takes much of one for it when nothing more comes', () => {
    const { clock, out, print } = open();
    const type = (text: string) => {
      out.length = 0;
      for (const letter of text) {
        print(letter);
        clock.forward(HOLD_MS);
      }
      return out.join('');
    };
    expect(type('hunte')).toBe('hun');
    expect(type('d ')).toBe('ted ');
    expect(type('hunte')).toBe('hun');
    clock.forward(LETTER_MS - HOLD_MS - 1);
    expect(out.join('')).toBe('hun');
    clock.forward(1);
    expect(out.join('')).toBe('hun**');
    expect(clock.isSet).toBe(false);
  });

  it('makes no byte wait for ever, however slowly something that may be a secret goes on', () => {
    const { clock, out, print } = open();
    for (let i = 0; i * (LETTER_MS - 1) < TYPED_MS + LETTER_MS; i++) {
      print('z');
      clock.forward(LETTER_MS - 1);
    }
    expect(out.join('').length).toBeGreaterThan(3);
  });

  it('conceals the rest of a secret whose beginning it could not hold', () => {
    const { clock, out, print } = open();
    print('hun');
    clock.forward(HOLD_MS);
    print('ter22 ');
    expect(out.join('')).toBe('hun***** ');
  });

  it('tells what was printed before a resize, and at the end, at once', () => {
    const { clock, out, print, stream } = open();
    print('hun');
    stream.resize(40);
    expect(out).toEqual(['hun']);
    print(' hu');
    stream.end();
    expect(out.join('')).toBe('hun hu');
    expect(clock.isSet).toBe(false);
  });

  it('shows nothing more once it has failed, and says so once', () => {
    let calls = 0;
    const { clock, errors, print, stream } = open(() => {
      calls++;
      throw new Error('broken');
    });
    print('a');
    print('hun');
    clock.forward(HOLD_MS);
    stream.end();
    expect(calls).toBe(1);
    expect(errors).toEqual([new Error('broken')]);
  });
});
