// A timeline out of the index of a session's history (`transcript?format=index`). Knows no HTTP.
import type { Closed, MemberRef, MembershipChanged, Resize } from '../protocol/frames.js';
import { type KeyframePlace, MAX_KEYFRAMES, MAX_MARKERS, type Marker, type Timeline } from './timeline.js';

/** A line of the index. `ts` is RFC 3339. */
export type IndexLine = { readonly sequence: number; readonly ts: string } & (
  | { readonly kind: 'Begin' | 'Keyframe'; readonly cols: number; readonly rows: number }
  | Resize
  | MembershipChanged
  | Closed
  | { readonly kind: 'Gap'; readonly from: number; readonly to: number }
  | { readonly kind: 'End' }
);

/** Undefined if there is nothing to show. */
export function timelineOf(lines: Iterable<IndexLine>): Timeline | undefined {
  const drawing = new Drawing();
  for (const line of lines) drawing.take(line);
  return drawing.timeline();
}

class Drawing {
  #begin: (IndexLine & { kind: 'Begin' | 'Keyframe' }) | undefined;
  #end = 0;
  #keyframes: KeyframePlace[] = [];
  /** Of so many Keyframes one is kept. */
  #thinning = 1;
  #seen = 0;
  #isWhole = true;
  readonly #markers: Marker[] = [];
  #members: MembershipChanged = { kind: 'MembershipChanged', controllers: [], observers: [] };

  take(line: IndexLine): void {
    if (line.kind === 'Begin') this.#begin = line;
    if (!this.#begin) return;
    this.#end = Math.max(this.#end, Date.parse(line.ts) - Date.parse(this.#begin.ts));
    const at = this.#end;
    if (line.kind === 'Keyframe') this.#keyframe({ at, sequence: line.sequence });
    else if (line.kind === 'MembershipChanged') this.#membersChanged(at, line);
    else if (line.kind === 'Resize') this.#mark({ at, kind: 'resized', text: `${line.cols} × ${line.rows}` });
    else if (line.kind === 'Gap') this.#mark({ at, kind: 'marked', text: `frames ${line.from} to ${line.to} are lost` });
    else if (line.kind === 'Closed') this.#mark({ at, kind: 'ended', text: endText(line) });
  }

  timeline(): Timeline | undefined {
    if (!this.#begin) return undefined;
    const { sequence: first, ts, cols, rows } = this.#begin;
    const [keyframes, markers] = [this.#keyframes, this.#markers];
    return { startedAt: Date.parse(ts), duration: this.#end, size: { cols, rows }, first, isWhole: this.#isWhole, keyframes, markers };
  }

  /** One that is the very first moment tells that what was before is gone. */
  #keyframe(place: KeyframePlace): void {
    if (place.sequence === this.#begin?.sequence) this.#isWhole = false;
    if (this.#seen++ % this.#thinning !== 0) return;
    this.#keyframes.push(place);
    if (this.#keyframes.length <= MAX_KEYFRAMES) return;
    this.#keyframes = this.#keyframes.filter((_, i) => i % 2 === 0);
    this.#thinning *= 2;
  }

  #membersChanged(at: number, now: MembershipChanged): void {
    const before = this.#members;
    this.#members = now;
    const [were, are] = [
      [...before.controllers, ...before.observers],
      [...now.controllers, ...now.observers],
    ];
    for (const member of missingIn(were, are)) this.#mark({ at, kind: 'joined', text: `${nameOf(member)} joined` });
    for (const member of missingIn(are, were)) this.#mark({ at, kind: 'left', text: `${nameOf(member)} left` });
    for (const member of missingIn(before.controllers, now.controllers))
      this.#mark({ at, kind: 'control', text: `${nameOf(member)} has control` });
  }

  #mark(marker: Marker): void {
    if (this.#markers.length < MAX_MARKERS) this.#markers.push(marker);
  }
}

const missingIn = (some: readonly MemberRef[], others: readonly MemberRef[]): MemberRef[] =>
  others.filter(({ client_id }) => !some.some((one) => one.client_id === client_id));

const nameOf = ({ label, client_id }: MemberRef): string => label || client_id.slice(-6);

const endText = ({ exit_code, reason }: Closed): string =>
  exit_code === null ? `ended: ${reason.replaceAll('_', ' ')}` : `ended with exit code ${exit_code}`;
