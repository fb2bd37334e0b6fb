// What is traced, for those who do the work: spans around it, and the span that it belongs to. Knows no exporter and no protocol.
import { AsyncLocalStorage } from 'node:async_hooks';

export type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

/** A piece of work, while it goes on and afterwards. */
export interface Span {
  readonly traceId: string;
  /** For what it asks others to do. */
  readonly traceparent: string;
  readonly isOver: boolean;
  set(attributes: Attributes): void;
  /** What a client was rightly refused is noted, and is no failure of the gateway. */
  fail(error: unknown): void;
  /** Ends it; once. */
  end(): void;
}

export interface SpanOptions {
  /** The `traceparent` that it continues. Absent, or none: it begins a trace. */
  readonly parent?: string | undefined;
  /** The `traceparent` of what it has to do with besides. */
  readonly link?: string | undefined;
  /** `server` does what was asked from outside this process, `client` asks another. */
  readonly kind?: 'server' | 'client';
  readonly attributes?: Attributes;
}

/**
 * Spans are for what somebody asked for: requests, verbs, and what these ask of other replicas and of the log. Frames on their way to clients and
 * keystrokes have none.
 */
export interface Tracing {
  begin(name: string, options?: SpanOptions): Span | undefined;
  /** Hands over what is left, for a bounded time. */
  close(): Promise<void>;
}

/** Nothing is traced. */
export const untraced: Tracing = { begin: () => undefined, close: async () => {} };

const current = new AsyncLocalStorage<Span | undefined>();

/** The span that the running work belongs to, as long as that goes on. What it left behind (a timer, an open socket) belongs to none. */
export function currentSpan(): Span | undefined {
  const span = current.getStore();
  return span?.isOver ? undefined : span;
}

/** The work, and all that it begins, belongs to the span; to none if that is undefined. It is begun in the turn of the call. */
export function within<T>(span: Span | undefined, work: () => T): T {
  return current.run(span, work);
}

/** The work as a span of its own, which ends when it does. */
export function around<T>(tracing: Tracing, name: string, options: SpanOptions, work: () => Promise<T>): Promise<T> {
  const span = tracing.begin(name, options);
  if (!span) return work();
  const done = within(span, work);
  done.catch((error) => span.fail(error)).finally(() => span.end());
  return done;
}

/** The same for a part of traced work; where none goes on, the part is not traced either. */
export function partOf<T>(tracing: Tracing, name: string, options: Omit<SpanOptions, 'parent'>, work: () => Promise<T>): Promise<T> {
  const whole = currentSpan();
  return whole ? around(tracing, name, { ...options, parent: whole.traceparent }, work) : work();
}
