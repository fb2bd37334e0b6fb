// Pictures of sessions' screens. Knows no route.
import fp from 'fastify-plugin';
import { Fault } from '../src/errors.js';
import type { Session } from '../src/session/session.js';
import { type PictureFormat, pictureFormats } from '../src/terminal/picture/draw.js';
import { type PictureError, type PictureFailure, Pictures } from '../src/terminal/picture/pictures.js';
import { type ThemeName, themes } from '../src/terminal/picture/theme.js';

declare module 'fastify' {
  interface FastifyInstance {
    readonly pictures: {
      /** What the session shows now. INVALID_REQUEST for a theme that there is not; 422 or 503 where it cannot be drawn. */
      of(session: Session, format: PictureFormat, theme: string): Promise<SessionPicture>;
    };
  }
}

export interface SessionPicture {
  /** Tells this picture from every other of the session. */
  readonly etag: string;
  bytes(): Promise<Uint8Array>;
}

const statuses: Record<PictureFailure, number> = { busy: 503, slow: 503, failed: 422 };

function refusal(error: PictureError): Fault {
  const status = statuses[error.failure];
  const code = status === 422 ? 'INVALID_REQUEST' : 'INTERNAL';
  return new Fault(code, `no picture of this screen: ${error.message}`, { status, cause: error });
}

const isTheme = (name: string): name is ThemeName => Object.hasOwn(themes, name);
export const isPictureFormat = (name: string): name is PictureFormat => pictureFormats.some((known) => known === name);

async function pictureOf(pictures: Pictures, session: Session, format: PictureFormat, theme: string): Promise<SessionPicture> {
  if (!isTheme(theme)) throw new Fault('INVALID_REQUEST', 'query.theme: expected dark or light');
  const snapshot = await session.snapshot();
  const title = session.describe().label ?? session.id;
  const name = `${snapshot.anchor}-${theme}-${format}`;
  const bytes = () =>
    pictures
      .draw(`${session.id}-${name}`, { snapshot, format, theme, title })
      .catch((error: PictureError) => Promise.reject(refusal(error)));
  return { etag: `"${name}"`, bytes };
}

export default fp(
  async (app) => {
    const pictures = new Pictures({ fonts: app.config.screenFonts });
    app.decorate('pictures', {
      of: (session: Session, format: PictureFormat, theme: string) => pictureOf(pictures, session, format, theme),
    });
    app.addHook('onClose', () => pictures.close());
  },
  { name: 'pictures', dependencies: ['sessions'] },
);
