// A session's screen in the forms that are asked for (contract: GET …/screen). Knows no route.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isPictureFormat } from '../plugins/pictures.js';
import { Fault } from '../src/errors.js';
import type { Session } from '../src/session/session.js';
import type { PictureFormat } from '../src/terminal/picture/draw.js';
import { hasTag } from './etag.js';

/** A document of its own: it may do nothing but be looked at. */
const PICTURE_POLICY = "default-src 'none'; style-src 'unsafe-inline'";
const PICTURE_TYPES = { svg: 'image/svg+xml; charset=utf-8', png: 'image/png' } as const;

export interface ShownScreen {
  readonly type: string;
  /** Undefined where the client has it already. */
  readonly body: unknown;
  /** Of a picture. */
  readonly etag?: string;
}

interface Asked {
  readonly format: string;
  /** Of a picture: dark or light. */
  readonly theme: string;
}

/** INVALID_REQUEST for a format that there is not, and as `app.pictures` has it. */
export async function screenOf(app: FastifyInstance, request: FastifyRequest, session: Session, asked: Asked): Promise<ShownScreen> {
  const { format } = asked;
  if (isPictureFormat(format)) return pictureOf(app, request, session, { ...asked, format });
  switch (format) {
    case 'json':
      return { type: 'application/json; charset=utf-8', body: await session.view() };
    case 'text':
      return { type: 'text/plain; charset=utf-8', body: `${(await session.view()).lines.join('\n')}\n` };
    case 'ansi':
      return { type: 'application/octet-stream', body: Buffer.from((await session.snapshot()).bytes) };
    default:
      throw new Fault('INVALID_REQUEST', 'query.format: expected json, text, ansi, svg or png');
  }
}

async function pictureOf(app: FastifyInstance, request: FastifyRequest, session: Session, asked: Asked & { format: PictureFormat }) {
  const { etag, bytes } = await app.pictures.of(session, asked.format, asked.theme);
  return { type: PICTURE_TYPES[asked.format], etag, body: hasTag(request, etag) ? undefined : await bytes() };
}

export function sendScreen(reply: FastifyReply, { type, body, etag }: ShownScreen): FastifyReply {
  if (etag !== undefined) reply.headers({ etag, 'cache-control': 'private, no-cache', 'content-security-policy': PICTURE_POLICY });
  return body === undefined ? reply.code(304).send() : reply.type(type).send(body);
}
