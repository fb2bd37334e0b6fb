// Which A2A extensions a request names, and which of them the answer says are active (A2A 1.0 §3.2.6). Knows no extension.
import type { IncomingMessage } from 'node:http';
import type { FastifyReply } from 'fastify';
import fp from 'fastify-plugin';
import { activateOnHttp, activateOnWebSocket } from '../src/a2a/extensions.js';
import { parseExtensions } from '../src/protocol/negotiate.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** The URIs of `A2A-Extensions` and `X-A2A-Extensions`, each once. */
    readonly extensions: readonly string[];
  }
  interface FastifyReply {
    /**
     * Of an A2A operation over HTTP: activates what the headers name, and what `inMessage` does (message.extensions), and tells it in the header
     * `A2A-Extensions`. To be called before the first byte of the answer. Throws UNSUPPORTED_OPERATION (pty-ext §3).
     */
    activateExtensions(inMessage?: readonly string[]): void;
  }
}

function namedBy({ headers }: Pick<IncomingMessage, 'headers'>): readonly string[] {
  return parseExtensions([headers['a2a-extensions'] ?? [], headers['x-a2a-extensions'] ?? []].flat());
}

function activateExtensions(this: FastifyReply, inMessage: readonly string[] = []): void {
  const activated = activateOnHttp([...this.request.extensions, ...inMessage]);
  if (activated.length > 0) this.header('a2a-extensions', activated.join(', '));
}

/** The answer to an upgrade is written by the WebSocket server, past Fastify's reply. */
function greet(headers: string[], request: IncomingMessage): void {
  const activated = activateOnWebSocket(namedBy(request));
  if (activated.length > 0) headers.push(`A2A-Extensions: ${activated.join(', ')}`);
}

export default fp(
  async (app) => {
    app.decorateRequest('extensions', {
      getter() {
        return namedBy(this);
      },
    });
    app.decorateReply('activateExtensions', activateExtensions);
    app.websocketServer.on('headers', greet);
  },
  { name: 'extension-negotiation', dependencies: ['websocket'] },
);
