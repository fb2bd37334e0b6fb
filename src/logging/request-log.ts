// One log line for each request that an operator would ask about; reads that went well are told at debug. Knows no route.
import Fastify, { type FastifyReply, type FastifyRequest } from 'fastify';
import { traceIdOf } from '../../plugins/telemetry.js';

const reads = new Set(['GET', 'HEAD', 'OPTIONS']);

export class RequestLog extends Fastify.LogController {
  override incomingRequest(): void {
    // Its end is told, with all that is known by then.
  }

  override requestCompleted(error: Error | null | undefined, request: FastifyRequest, reply: FastifyReply): void {
    const { statusCode, elapsedTime } = reply;
    request.log[levelOf(request, reply)](
      {
        req: request,
        ...partiesOf(request),
        status: statusCode,
        ms: Math.round(elapsedTime),
        ...whyRefused(request, reply),
        ...(error && { err: error }),
      },
      'request',
    );
  }
}

/** Who asked, of what, in which trace; under the names that all lines have. */
function partiesOf(request: FastifyRequest) {
  const { inst, id } = (request.params ?? {}) as { inst?: string; id?: string };
  const trace = traceIdOf(request);
  return {
    ...(request.principal && { principal: request.principal.name }),
    ...(inst !== undefined && { instance_id: inst }),
    ...(id !== undefined && { session_id: id }),
    ...(trace !== undefined && { trace_id: trace }),
  };
}

/** Of a token that was not taken, and of what could not be done now. */
function whyRefused({ refusal, why }: FastifyRequest, { statusCode }: FastifyReply): { why: string } | undefined {
  if (statusCode === 503 && why) return { why };
  return statusCode === 401 && refusal ? { why: refusal.message } : undefined;
}

/** What passes (Redis is away, a limit is reached) is told as what it is where it happens; each request that it cost is no error of its own. */
function levelOf({ method }: FastifyRequest, { statusCode }: FastifyReply): 'error' | 'warn' | 'info' | 'debug' {
  if (statusCode === 503) return 'warn';
  if (statusCode >= 500) return 'error';
  return reads.has(method) && statusCode < 400 ? 'debug' : 'info';
}
