// WebSockets, and all that their connections share. Knows no route and no verb.
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import fastifyWebsocket from '@fastify/websocket';
import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import type { Attachments } from '../src/attach/connection.js';
import { Connections } from '../src/attach/connections.js';
import { Heartbeat } from '../src/attach/heartbeat.js';
import { CLOSING_MS } from '../src/attach/limits.js';
import { Seats } from '../src/attach/seats.js';
import { Tails } from '../src/attach/tail.js';
import { closeCode, Fault } from '../src/errors.js';
import { chooseSubprotocol } from '../src/protocol/negotiate.js';

declare module 'fastify' {
  interface FastifyInstance {
    /** All open connections. */
    readonly connections: Connections;
    /** What they share of the sessions and of time. */
    readonly attachments: Pick<Attachments, 'tails' | 'heartbeat' | 'firstFrameMs'>;
    /** For connections, of which each principal and address may have so many. */
    readonly seats: Seats;
  }
}

/** Milliseconds that a socket may be silent between its upgrade request and the answer. */
const UPGRADE_MS = 30_000;

export const isUpgrade = (raw: IncomingMessage & { upgrade?: boolean }): boolean => raw.upgrade === true;

/** Where no WebSocket is served an upgrade is refused as HTTP, not accepted and hung up on. */
function refuseElsewhere(app: FastifyInstance): void {
  const served = new Set<string>();
  app.addHook('onRoute', ({ url, wsHandler }) => {
    if (wsHandler) served.add(url);
  });
  app.addHook('onRequest', async ({ raw, routeOptions }) => {
    if (isUpgrade(raw) && !served.has(routeOptions.url ?? '')) throw new Fault('TASK_NOT_FOUND', 'no WebSocket is served at this address');
  });
}

/** The server has let go of the socket of an upgrade: unless it becomes a WebSocket, it is ours to close, whoever refused it. */
function closeRefused(app: FastifyInstance): void {
  app.server.on('upgrade', (_request, socket: Socket) => socket.setTimeout(UPGRADE_MS, () => socket.destroy()));
  app.addHook('onResponse', async ({ raw }) => {
    if (isUpgrade(raw)) raw.socket.destroySoon();
  });
}

export default fp(
  async (app) => {
    const connections = new Connections();
    app.decorate('connections', connections);
    const { limits } = app.config;
    app.decorate('seats', new Seats({ perPrincipal: limits.connectionsPerPrincipal, perAddress: limits.connectionsPerAddress }));
    app.decorate('attachments', {
      tails: new Tails(),
      heartbeat: new Heartbeat(app.config.heartbeat),
      firstFrameMs: limits.firstFrameSeconds * 1000,
    });
    closeRefused(app);
    refuseElsewhere(app);
    await app.register(fastifyWebsocket, {
      options: {
        // Exactly the one chosen: without this the first offered would be echoed, a token among them.
        handleProtocols: (_offered, { headers }) => chooseSubprotocol(headers['sec-websocket-protocol']) ?? false,
        maxPayload: app.config.limits.messageBytes,
        closeTimeout: CLOSING_MS,
        // Its connection answers a Ping, where there is room for the answer.
        autoPong: false,
        perMessageDeflate: false,
      } as NonNullable<fastifyWebsocket.WebsocketPluginOptions['options']>,
      // A frame that cannot be read is closed with its own code by the library; what a peer does is no fault of ours.
      errorHandler: (error: NodeJS.ErrnoException, socket, request) => {
        request.log[error.code === undefined ? 'error' : 'debug']({ err: error }, 'a connection failed');
        socket.close(closeCode.fault);
      },
      preClose: () => connections.goodbyeAll('server_shutdown', CLOSING_MS),
    });
  },
  { name: 'websocket', dependencies: ['context'] },
);
