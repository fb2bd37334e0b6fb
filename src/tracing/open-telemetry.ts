// Spans on their way to a collector over OTLP (http/protobuf). Loaded where traces are wanted alone. Knows no request, no session and no setting of its own.
import { ROOT_CONTEXT, type SpanContext, SpanKind, type Span as SpanOfApi, SpanStatusCode, type Tracer, trace } from '@opentelemetry/api';
import { type ExportResult, ExportResultCode } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor, type ReadableSpan, type SpanExporter } from '@opentelemetry/sdk-trace-node';
import { Fault } from '../errors.js';
import { readTraceparent, writeTraceparent } from './traceparent.js';
import type { Attributes, Span, SpanOptions, Tracing } from './tracing.js';

/** Longest that the end of the process waits for a collector to take what is left, in milliseconds. */
const FLUSH_MS = 2000;
/** How long a collector that is asked whether it takes spans may take, in milliseconds. */
const ASK_MS = 3000;

const kinds = { server: SpanKind.SERVER, client: SpanKind.CLIENT } as const;

export interface TracingOptions {
  /** `service.instance.id`. */
  readonly replicaId: string;
  /** `service.version`. */
  readonly version: string;
  readonly logger: { info(fields: object, message: string): void; warn(fields: object, message: string): void };
}

/** Where to, what is recorded and in which batches, the OTEL_… variables say, as OpenTelemetry's specification does. */
export function openTracing({ replicaId, version, logger }: TracingOptions): Tracing {
  const own = resourceFromAttributes({ 'service.name': 'pty-gateway', 'service.version': version, 'service.instance.id': replicaId });
  const provider = new BasicTracerProvider({
    resource: defaultResource()
      .merge(own)
      .merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor(new Told(new OTLPTraceExporter(), logger))],
  });
  const tracer = provider.getTracer('pty-gateway', version);
  return {
    begin: (name, options = {}) => new OpenSpan(tracer, name, options),
    close: () => Promise.race([provider.shutdown().catch(() => {}), after(FLUSH_MS)]),
  };
}

/** Sends the collector no span. Rejects with why it does not take it, as it would not take others. */
export async function askCollector(): Promise<void> {
  const exporter = new OTLPTraceExporter({ timeoutMillis: ASK_MS });
  try {
    const { code, error } = await new Promise<ExportResult>((resolve) => exporter.export([], resolve));
    if (code === ExportResultCode.FAILED) throw error ?? new Error('it says nothing');
  } finally {
    await exporter.shutdown();
  }
}

const after = (ms: number) => new Promise<void>((resolve) => void setTimeout(resolve, ms).unref());

class OpenSpan implements Span {
  readonly traceId: string;
  readonly traceparent: string;
  isOver = false;
  readonly #span: SpanOfApi;

  constructor(tracer: Tracer, name: string, { parent, link, kind, attributes }: SpanOptions) {
    const before = contextOf(parent);
    const linked = contextOf(link);
    const options = {
      ...(kind && { kind: kinds[kind] }),
      ...(attributes && { attributes }),
      ...(linked && { links: [{ context: linked }] }),
    };
    this.#span = tracer.startSpan(name, options, before ? trace.setSpanContext(ROOT_CONTEXT, before) : ROOT_CONTEXT);
    const { traceId, spanId, traceFlags } = this.#span.spanContext();
    this.traceId = traceId;
    this.traceparent = writeTraceparent({ traceId, spanId, flags: traceFlags });
  }

  set(attributes: Attributes): void {
    for (const [name, value] of Object.entries(attributes)) if (value !== undefined) this.#span.setAttribute(name, value);
  }

  fail(error: unknown): void {
    const { name, message } = error as Error;
    this.#span.setAttribute('error.type', error instanceof Fault ? error.code : name);
    if (!(error instanceof Fault) || error.status >= 500) this.#span.setStatus({ code: SpanStatusCode.ERROR, message });
  }

  end(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.#span.end();
  }
}

function contextOf(traceparent: string | undefined): SpanContext | undefined {
  const read = readTraceparent(traceparent);
  return read && { traceId: read.traceId, spanId: read.spanId, traceFlags: read.flags, isRemote: true };
}

/** An exporter that says once that spans are not taken, and once that they are again. What is not taken is lost; nothing waits for it. */
class Told implements SpanExporter {
  readonly #inner: SpanExporter;
  readonly #logger: TracingOptions['logger'];
  #isInTrouble = false;

  constructor(inner: SpanExporter, logger: TracingOptions['logger']) {
    this.#inner = inner;
    this.#logger = logger;
  }

  export(spans: ReadableSpan[], done: (result: ExportResult) => void): void {
    this.#inner.export(spans, (result) => {
      this.#note(result);
      done(result);
    });
  }

  shutdown(): Promise<void> {
    return this.#inner.shutdown();
  }

  async forceFlush(): Promise<void> {
    await this.#inner.forceFlush?.();
  }

  #note({ code, error }: ExportResult): void {
    const isInTrouble = code === ExportResultCode.FAILED;
    if (isInTrouble === this.#isInTrouble) return;
    this.#isInTrouble = isInTrouble;
    if (isInTrouble) this.#logger.warn({ err: error }, 'traces are not taken by the collector, and are lost until it takes them');
    else this.#logger.info({}, 'traces are taken by the collector again');
  }
}
