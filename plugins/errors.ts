// Every failure as `{"error": {code, message, details?}}` with the code's status; a stack goes to the log alone. Knows no route.
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { TObject } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import type { FastifyError, FastifyReply, FastifyRequest, FastifySchemaCompiler } from 'fastify';
import fp from 'fastify-plugin';
import { asFault, Fault, isFailure, whyOf } from '../src/errors.js';
import { checker } from '../src/protocol/check.js';
import { fromQuery } from '../src/query.js';
import { ScreenUnavailable } from '../src/terminal/terminal.js';

/** Seconds after which a 503 asks to be tried again. */
const RETRY_AFTER_SECONDS = 5;

/** Our words for what Fastify refuses by itself. */
const refusals: Record<string, string> = {
  FST_ERR_CTP_INVALID_JSON_BODY: 'the body is not valid JSON',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'the body is not as long as its Content-Length says',
  FST_ERR_CTP_BODY_TOO_LARGE: 'the body is too large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'expected Content-Type: application/json',
};

/** The body of an error answer. */
export function errorBody({ code, message, details }: Fault): object {
  return { error: { code, message, ...(details && { details }) } };
}

/** Answers with a Fault, whatever was thrown. Also for what fails before a route is found. */
export function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const fault = settle(error, request, reply);
  reply
    .code(fault.status)
    .type('application/json; charset=utf-8')
    .send(JSON.stringify(errorBody(fault)));
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Why it could not be done now, for the line of the log that tells of its end. */
    why: string | null;
  }
}

/** What was thrown as a Fault; the log hears of what is nobody's wish, and a 503 asks to be tried again. */
export function settle(error: unknown, request: FastifyRequest, reply: FastifyReply): Fault {
  if (isHangUp(error, request)) return new Fault('INTERNAL', 'the client hung up');
  const fault = faultOf(error);
  request.server.metrics.count('refusals_total', 1, { face: 'http', code: fault.code });
  if (isFailure(fault)) tellFailure(fault.cause ?? error, request);
  if (fault.status === 503) request.why = whyOf(fault);
  if (fault.status === 503 && !reply.hasHeader('retry-after')) reply.header('retry-after', RETRY_AFTER_SECONDS);
  return fault;
}

function tellFailure(err: unknown, { server, log }: FastifyRequest): void {
  server.seldom.tell(`a request failed: ${err}`, (times) => log.error({ err, times }, 'a request failed'));
}

/** A stream that ended because its reader had gone: what anyone can do as often as they like is no failure. */
function isHangUp(error: unknown, { raw, log }: FastifyRequest): boolean {
  if ((error as { code?: unknown }).code !== 'ERR_STREAM_PREMATURE_CLOSE' || !raw.socket.destroyed) return false;
  log.debug('the client hung up before its answer began');
  return true;
}

function faultOf(error: unknown): Fault {
  if (error instanceof Fault) return error;
  if (error instanceof ScreenUnavailable) return new Fault('INTERNAL', 'the screen cannot be told now', { status: 503, cause: error });
  const { code = '', statusCode = 500 } = error as Partial<FastifyError>;
  if (code === 'FST_ERR_BAD_URL' || code === 'FST_ERR_MAX_PARAM_LENGTH') return notFound();
  if (statusCode < 400 || statusCode >= 500) return asFault(error);
  return new Fault('INVALID_REQUEST', refusals[code] ?? 'the request is not valid', { status: statusCode, cause: error });
}

function notFound(): Fault {
  return new Fault('TASK_NOT_FOUND', 'there is nothing at this address');
}

/** What is no HTTP at all, or comes too slowly, is answered on the bare socket. */
export function refuseConnection(error: Error & { code?: string }, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const status = error.code === 'HPE_HEADER_OVERFLOW' ? 431 : error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400;
  const body = JSON.stringify(errorBody(new Fault('INVALID_REQUEST', `the request cannot be read: ${STATUS_CODES[status]}`)));
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n`;
  socket.end(head + body, () => socket.destroy());
}

/** Checks with TypeBox; what comes in an address is text, so numbers are read out of it first. An absent body is an empty one. */
const compileValidator: FastifySchemaCompiler<TObject> = ({ schema, httpPart = 'body' }) => {
  const check = checker(schema, httpPart === 'querystring' ? 'query' : httpPart);
  return (data: unknown) => {
    const value = Value.Default(schema, httpPart === 'body' ? (data ?? {}) : fromQuery(schema, data as Record<string, unknown>));
    const problem = check(value);
    return problem === undefined ? { value } : { error: new Fault('INVALID_REQUEST', problem) };
  };
};

/** To the schemas no body and null are the same. */
function refuseNull(body: unknown): Fault | null {
  return body === null ? new Fault('INVALID_REQUEST', 'body: expected an object, got null') : null;
}

export default fp(
  async (app) => {
    app.decorateRequest('why', null);
    app.setErrorHandler(sendError);
    app.setNotFoundHandler((request, reply) => sendError(notFound(), request, reply));
    app.setValidatorCompiler(compileValidator as FastifySchemaCompiler<unknown>);
    app.setSerializerCompiler(() => (data) => JSON.stringify(data));
    const parse = app.getDefaultJsonParser('error', 'error');
    app.removeContentTypeParser(['application/json', 'text/plain']);
    app.addContentTypeParser<string>('application/json', { parseAs: 'string' }, (request, body, done) =>
      body === '' ? done(null, undefined) : parse(request, body, (error, value) => done(error ?? refuseNull(value), value)),
    );
  },
  { name: 'errors' },
);
