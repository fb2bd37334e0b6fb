// One log line for each request that an operator would ask about; reads that went well are told at debug. Knows no route.
import Fastify, { type FastifyReply, type FastifyRequest } from 'fastify';

const reads = new Set(['GET', 'HEAD', 'OPTIONS']);

export class RequestLog extends Fastify.LogController {
  override incomingRequest(): void {
    // Its end is told, with all that is known by then.
  }

  override requestCompleted(error: Error | null | undefined, request: FastifyRequest, reply: FastifyReply): void {
    const { statusCode, elapsedTime } = reply;
    request.log[levelOf(request, reply)](
      { req: request, status: statusCode, ms: Math.round(elapsedTime), ...whyRefused(request, reply), ...(error && { err: error }) },
      'request',
    );
  }
}

/** Of a token that was not taken. */
function whyRefused({ refusal }: FastifyRequest, { statusCode }: FastifyReply): { why: string } | undefined {
  return statusCode === 401 && refusal ? { why: refusal.message } : undefined;
}

function levelOf({ method }: FastifyRequest, { statusCode }: FastifyReply): 'error' | 'info' | 'debug' {
  if (statusCode >= 500) return 'error';
  return reads.has(method) && statusCode < 400 ? 'debug' : 'info';
}
