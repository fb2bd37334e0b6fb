// Answers that are streams of events, and their end with the gateway's. Knows no event.
import type { FastifyReply } from 'fastify';
import fp from 'fastify-plugin';
import { Fault } from '../src/errors.js';
import { EventStream, type EventStreamParts } from '../src/event-stream.js';

/** Streams that one principal may have open on this replica. */
const MAX_STREAMS = 64;

declare module 'fastify' {
  interface FastifyInstance {
    /** Ends all open streams in order; their clients may ask another replica. */
    endEventStreams(): void;
  }
  interface FastifyReply {
    /** Answers with server-sent events (`text/event-stream`). RATE_LIMITED beyond MAX_STREAMS. */
    sendEvents(parts: EventStreamParts): FastifyReply;
  }
}

export default fp(
  async (app) => {
    const open = new Map<EventStream, string>();
    const endAll = () => {
      for (const stream of open.keys()) stream.endEarly('the gateway is shutting down');
    };

    function sendEvents(this: FastifyReply, parts: EventStreamParts): FastifyReply {
      const who = this.request.principal?.name ?? this.request.ip;
      if ([...open.values()].filter((owner) => owner === who).length >= MAX_STREAMS) {
        void parts.events.return?.();
        throw new Fault('RATE_LIMITED', `too many open streams; at most ${MAX_STREAMS} at a time`);
      }
      const stream = new EventStream(parts);
      open.set(stream, who);
      const { principal } = this.request;
      const unwatch = principal ? app.validity.watch(principal, (why) => stream.endEarly(why)) : () => {};
      stream.once('close', () => {
        unwatch();
        open.delete(stream);
      });
      return this.type('text/event-stream').header('cache-control', 'no-store').header('x-accel-buffering', 'no').send(stream);
    }

    app.decorate('endEventStreams', endAll);
    app.decorateReply('sendEvents', sendEvents);
    app.addHook('preClose', async () => endAll());
  },
  { name: 'event-streams', dependencies: ['context', 'auth'] },
);
