// Whether the collector takes traces. Knows no span.
import type { Config } from '../../config.js';
import { attempt, type Finding } from './finding.js';

export async function traceFindings({ traces }: Config): Promise<Finding[]> {
  if (!traces) return [];
  const todo =
    'see that it runs, that OTEL_EXPORTER_OTLP_ENDPOINT is its address for OTLP over HTTP (port 4318, mostly), and that OTEL_EXPORTER_OTLP_HEADERS let us in';
  const asked = await attempt('OTLP collector', todo, async () => {
    const { askCollector } = await import('../../tracing/open-telemetry.js');
    await askCollector();
    return 'it takes traces';
  });
  return [asked];
}
