// Links to watch one session: made, listed, revoked. Knows addresses and schemas; what a link is good for is its token's.
import { Type } from '@sinclair/typebox';
import type { FastifyRequest } from 'fastify';
import { authorize, principalOf } from '../plugins/auth.js';
import { Fault } from '../src/errors.js';
import { newId } from '../src/protocol/ids.js';
import { DEFAULT_TTL_SECONDS, MAX_SHARES, MAX_TTL_SECONDS, MIN_TTL_SECONDS, type Share } from '../src/shares/share.js';
import { ErrorBody, type Routes, SessionParams } from './schemas.js';
import { audited, sessionOf } from './sessions.js';

const MAX_LABEL_CHARS = 128;

const ShareRequest = Type.Object(
  {
    ttl_seconds: Type.Integer({ minimum: MIN_TTL_SECONDS, maximum: MAX_TTL_SECONDS, default: DEFAULT_TTL_SECONDS }),
    label: Type.Optional(Type.String({ minLength: 1, maxLength: MAX_LABEL_CHARS, description: 'Whom or what it is for.' })),
  },
  { additionalProperties: false },
);
const ShareParams = Type.Object({ ...SessionParams.properties, share_id: Type.String() });
const Kept = {
  share_id: Type.String({ description: 'UUIDv7.' }),
  instance_id: Type.String(),
  session_id: Type.String(),
  label: Type.Optional(Type.String()),
  created_by: Type.String(),
  created_at: Type.String({ description: 'RFC 3339, UTC.' }),
  expires_at: Type.String({ description: 'RFC 3339, UTC.' }),
};
const ShareList = Type.Object({ shares: Type.Array(Type.Object(Kept)) }, { description: 'The links that are good, the oldest first.' });
const NewShare = Type.Object({ ...Kept, url: Type.String({ description: 'Told once: whoever has it can watch.' }) });

const answers = (status: number, body: object) => ({
  security: [{ bearer: [] }],
  response: { [status]: body, '4xx': ErrorBody, '5xx': ErrorBody },
});

export const shareRoutes: Routes = async (app) => {
  const all = '/agents/:inst/sessions/:id/shares';
  const onRequest = authorize('pty:control', 'admin');

  app.post(
    all,
    {
      onRequest,
      schema: {
        params: SessionParams,
        body: ShareRequest,
        ...answers(201, NewShare),
        summary: `Makes a link with which this session alone can be watched; at most ${MAX_SHARES} at a time`,
      },
    },
    async (request, reply) => {
      const { inst, id } = request.params;
      const { ttl_seconds, label } = request.body;
      // In whole seconds, as its token's times are.
      const now = Math.floor(Date.now() / 1000) * 1000;
      const made: Share = {
        share_id: newId(),
        instance_id: inst,
        session_id: id,
        created_by: principalOf(request).name,
        created_at: new Date(now).toISOString(),
        expires_at: new Date(now + ttl_seconds * 1000).toISOString(),
      };
      const share = await audited(request, 'admin', `the link ${made.share_id} is made, good until ${made.expires_at}`, async () => {
        const session = await sessionOf(request as FastifyRequest);
        const named = label === undefined ? made : { ...made, label: await session.conceal(label) };
        const url = app.shareUrl(named);
        await app.shares.add(named);
        return { ...named, url };
      });
      return reply.code(201).header('cache-control', 'no-store').send(share);
    },
  );

  app.get(
    all,
    { onRequest, schema: { params: SessionParams, ...answers(200, ShareList), summary: 'Lists the links to watch this session' } },
    async (request) => {
      const shares = await audited(request, 'admin', 'the links are listed', async () => {
        const session = await sessionOf(request as FastifyRequest);
        return app.shares.list(session.id);
      });
      return { shares };
    },
  );

  app.delete(
    `${all}/:share_id`,
    {
      onRequest,
      schema: { params: ShareParams, ...answers(204, Type.Null()), summary: 'Revokes a link: who watches with it is sent away' },
    },
    async (request, reply) => {
      const { share_id } = request.params;
      await audited(request, 'admin', `the link ${share_id} is revoked`, async () => {
        const session = await sessionOf(request as FastifyRequest);
        if (!(await app.shares.revoke(session.id, share_id))) throw new Fault('TASK_NOT_FOUND', 'there is no such link');
      });
      return reply.code(204).send();
    },
  );
};
