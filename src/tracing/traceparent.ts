// The context of a trace as it travels in a line of text (W3C Trace Context §3.2). Knows no span.

/** Of a trace, and of the span in it that goes before. */
export interface TraceContext {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  /** Bit 0: it is recorded. */
  readonly flags: number;
}

const PATTERN = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const isNothing = (digits: string) => /^0+$/.test(digits);

/** Undefined for what is none: an id of zeros is no id, version `ff` does not exist, and nothing follows in version `00`. */
export function readTraceparent(text: unknown): TraceContext | undefined {
  const [, version, traceId, spanId, flags, more] = (typeof text === 'string' && PATTERN.exec(text)) || [];
  if (version === undefined || traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  if (version === 'ff' || (version === '00' && more !== undefined) || isNothing(traceId) || isNothing(spanId)) return undefined;
  return { traceId, spanId, flags: Number.parseInt(flags, 16) };
}

export function writeTraceparent({ traceId, spanId, flags }: TraceContext): string {
  return `00-${traceId}-${spanId}-${flags.toString(16).padStart(2, '0')}`;
}
