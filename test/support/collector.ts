// A collector of traces: takes OTLP over HTTP as protobuf, and keeps the spans. Knows no gateway.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';

/** As opentelemetry/proto/trace/v1 has it. */
export interface Received {
  readonly service: Readonly<Record<string, string>>;
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  /** Empty for the beginning of a trace. */
  readonly parentId: string;
  /** `traceId` of what is linked. */
  readonly links: readonly string[];
  readonly attributes: Readonly<Record<string, string>>;
  readonly failed: boolean;
}

export interface Collector {
  readonly url: string;
  readonly spans: Received[];
  /** From now on it takes requests, and never answers. */
  hang(): void;
  close(): Promise<void>;
}

export async function startCollector(): Promise<Collector> {
  const spans: Received[] = [];
  let hangs = false;
  const server = createServer(async (request, response) => {
    const sent = Buffer.concat(await request.toArray());
    const body = request.headers['content-encoding'] === 'gzip' ? gunzipSync(sent) : sent;
    if (hangs) return;
    if (request.url === '/v1/traces') spans.push(...spansIn(body));
    response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    hang: () => {
      hangs = true;
    },
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

const SPAN_STATUS_ERROR = 2;

/** ExportTraceServiceRequest → ResourceSpans → ScopeSpans → Span, by the numbers of their fields. */
function spansIn(request: Buffer): Received[] {
  return all(request, 1).flatMap((resourceSpans) => {
    const service = attributesIn(all(resourceSpans, 1).flatMap((resource) => all(resource, 1)));
    return all(resourceSpans, 2)
      .flatMap((scopeSpans) => all(scopeSpans, 2))
      .map((span) => spanIn(span, service));
  });
}

function spanIn(span: Buffer, service: Received['service']): Received {
  const hex = (field: number) => all(span, field)[0]?.toString('hex') ?? '';
  return {
    service,
    name: text(span, 5),
    traceId: hex(1),
    spanId: hex(2),
    parentId: hex(4),
    links: all(span, 13).map((link) => all(link, 1)[0]?.toString('hex') ?? ''),
    attributes: attributesIn(all(span, 9)),
    failed: fields(all(span, 15)[0] ?? Buffer.alloc(0)).some(({ field, value }) => field === 3 && value === SPAN_STATUS_ERROR),
  };
}

function attributesIn(pairs: readonly Buffer[]): Record<string, string> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const [value] = all(pair, 2).flatMap((any) => fields(any));
      return [text(pair, 1), String(value?.value)];
    }),
  );
}

const all = (message: Buffer, wanted: number): Buffer[] =>
  fields(message).flatMap(({ field, value }) => (field === wanted && Buffer.isBuffer(value) ? [value] : []));
const text = (message: Buffer, field: number): string => all(message, field)[0]?.toString() ?? '';

/** The fields of a message in protobuf's encoding; a number is told as one, fixed or not. */
function fields(message: Buffer): Array<{ field: number; value: number | Buffer }> {
  const found: Array<{ field: number; value: number | Buffer }> = [];
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let shift = 1; ; shift *= 128) {
      const byte = message.readUInt8(at++);
      value += (byte & 127) * shift;
      if (byte < 128) return value;
    }
  };
  const bytes = (length: number): Buffer => {
    at += length;
    return message.subarray(at - length, at);
  };
  while (at < message.length) {
    const tag = varint();
    const wire = tag & 7;
    const value = wire === 0 ? varint() : bytes(wire === 2 ? varint() : wire === 1 ? 8 : 4);
    found.push({ field: tag >>> 3, value });
  }
  return found;
}
