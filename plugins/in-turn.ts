// Requests that come on one connection before their answers (HTTP/1.1 pipelining) are taken one after the other. Knows no route.
//
// Node tells an answer that its connection is gone only if it is the one that is being sent. One that waits behind it would never hear of it, and
// all that is let go of at its end would be held for ever. So none is begun before it is its turn, and none at all once the connection is gone.
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import fp from 'fastify-plugin';

export default fp(
  async (app) => {
    /** Of each connection, what answers the last request that came on it. */
    const last = new WeakMap<Socket, ServerResponse>();
    app.addHook('onRequest', (request, reply, next) => {
      const { socket } = request.raw;
      const before = last.get(socket);
      last.set(socket, reply.raw);
      if (!before || before.destroyed) return next();
      before.once('close', () => {
        if (!socket.destroyed) next();
      });
    });
  },
  { name: 'in-turn' },
);
