// What is looked for in a session: its leased secrets and the shapes of tokens, as one automaton. Knows no stream.
import { Automaton, type Literal } from './automaton.js';
import { formsOf } from './forms.js';
import { LongSecret } from './long-secret.js';
import { BLOCK_END, type Shape, shapes } from './shapes.js';

/** Bytes by which a long secret is known; the rest is compared as it comes. */
export const HEAD_BYTES = 64;
/** Bytes: a shorter form is a secret only on one line. */
const SHORT_BYTES = 8;
/** Bytes: half of a secret is taken for it if nothing more comes, but not less than so many, and so many are always enough. */
const GUARD_LEAST = 3;
const GUARD_MOST = 16;

/** What a literal means where it ends. */
export type Sought =
  /** `length` bytes of a secret; `whole` is there if it is longer than that. */
  | { readonly kind: 'secret'; readonly length: number; readonly whole: LongSecret | undefined; readonly isShort: boolean }
  | { readonly kind: 'shape'; readonly shape: SoughtShape }
  | { readonly kind: 'block_end' };

export interface SoughtShape extends Pick<Shape, 'least' | 'isBlock'> {
  /** Bytes. */
  readonly prefixLength: number;
  /** Begins with a letter or a digit, and so is no part of a longer word. */
  readonly isWord: boolean;
  /** By byte: 1 for what belongs to it. */
  readonly body: Uint8Array;
}

/** Everything that is looked for anyway, and these secrets. */
export function seek(secrets: readonly string[]): Automaton<Sought> {
  if (secrets.length === 0) return common();
  return new Automaton([...secrets.flatMap(formsOf).map(secretLiteral), ...commonLiterals]);
}

let shared: Automaton<Sought> | undefined;
const common = (): Automaton<Sought> => {
  shared ??= new Automaton(commonLiterals);
  return shared;
};

const commonLiterals: readonly Literal<Sought>[] = [
  ...shapes.map((shape) => ({ bytes: Buffer.from(shape.prefix), tag: { kind: 'shape', shape: soughtShape(shape) } }) as const),
  { bytes: Buffer.from(BLOCK_END), tag: { kind: 'block_end' } },
];

function secretLiteral(form: Uint8Array): Literal<Sought> {
  const bytes = form.subarray(0, HEAD_BYTES);
  const whole = form.length > HEAD_BYTES ? new LongSecret(form) : undefined;
  const guard = Math.min(GUARD_MOST, Math.max(GUARD_LEAST, Math.ceil(form.length / 2)));
  return {
    bytes,
    guard,
    tag: { kind: 'secret', length: bytes.length, whole, isShort: form.length < SHORT_BYTES },
  };
}

function soughtShape({ prefix, body, least, isBlock }: Shape): SoughtShape {
  const table = Uint8Array.from({ length: 256 }, (_, byte) => (byte < 0x80 && body.test(String.fromCharCode(byte)) ? 1 : 0));
  return { prefixLength: prefix.length, isWord: /^\w/.test(prefix), body: table, least, ...(isBlock && { isBlock }) };
}
