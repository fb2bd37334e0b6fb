// An asciicast of version 2 as a recording. Knows no file.
import { type Moment, type Recording, RecordingError, type Size } from './recording.js';
import type { Marker } from './timeline.js';

/** Largest side of a terminal, in cells. */
const MAX_SIDE = 1024;

/** All of it is held: it is what the lines hold. Throws RecordingError, naming the line. */
export async function readCast(lines: AsyncIterable<string>): Promise<Recording> {
  const reading = new Reading();
  let number = 0;
  for await (const line of lines) {
    number++;
    try {
      reading.take(line);
    } catch (error) {
      throw new RecordingError(`line ${number}: ${(error as Error).message}`);
    }
  }
  return reading.recording();
}

class Reading {
  #size: Size | undefined;
  #startedAt: number | undefined;
  #at = 0;
  readonly #moments: Moment[] = [];
  readonly #markers: Marker[] = [];

  take(line: string): void {
    if (line.trim() === '') return;
    const value = parsed(line);
    if (this.#size === undefined) this.#head(value);
    else this.#event(value, this.#size);
  }

  recording(): Recording {
    const size = this.#size;
    if (!size) throw new RecordingError('the file is empty; expected an asciicast, version 2');
    const moments = this.#moments;
    const timeline = {
      startedAt: this.#startedAt,
      duration: this.#at,
      size,
      first: 0,
      isWhole: true,
      keyframes: [],
      markers: this.#markers,
    };
    return { timeline, read: (from) => pieces(moments, from) };
  }

  #head(value: unknown): void {
    const { version, width, height, timestamp } = (value ?? {}) as Readonly<Record<string, unknown>>;
    if (version !== 2)
      throw new Error(`expected the header of an asciicast, version 2${version === undefined ? '' : `; this is version ${version}`}`);
    this.#size = sizeOf(Number(width), Number(height));
    if (typeof timestamp === 'number' && Number.isFinite(timestamp)) this.#startedAt = timestamp * 1000;
  }

  #event(value: unknown, first: Size): void {
    const [time, code, data] = Array.isArray(value) ? value : [];
    if (typeof time !== 'number' || !(time >= 0) || typeof code !== 'string' || typeof data !== 'string')
      throw new Error('expected an event: [seconds, "o", "text"]');
    this.#at = Math.max(this.#at, time * 1000);
    const place = { sequence: this.#moments.length, at: this.#at };
    if (code === 'o') this.#moments.push({ ...place, kind: 'output', bytes: new TextEncoder().encode(data) });
    else if (code === 'r') this.#moments.push({ ...place, kind: 'resize', size: sizeIn(data, first) });
    else if (code === 'm') this.#markers.push({ at: this.#at, kind: 'marked', text: data });
  }
}

async function* pieces(moments: readonly Moment[], from: number): AsyncGenerator<readonly Moment[]> {
  // One by one, so that no more is taken than there is room for.
  for (let n = from; n < moments.length; n++) yield moments.slice(n, n + 1);
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw new Error('expected JSON');
  }
}

function sizeIn(text: string, { cols, rows }: Size): Size {
  const [, width = cols, height = rows] = /^(\d+)x(\d+)$/.exec(text) ?? [];
  return sizeOf(Number(width), Number(height));
}

function sizeOf(cols: number, rows: number): Size {
  for (const side of [cols, rows])
    if (!Number.isInteger(side) || side < 1 || side > MAX_SIDE)
      throw new Error(`a terminal of ${cols} × ${rows}; expected 1 to ${MAX_SIDE} each`);
  return { cols, rows };
}
