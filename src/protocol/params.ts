// The limits that an agent advertises and a session keeps (pty-ext §4.1). Knows no config file.
import { type Static, Type } from '@sinclair/typebox';

/** Largest width and height of a terminal, in cells. */
export const MAX_SIDE = 1024;

export const Side = Type.Integer({ minimum: 1, maximum: MAX_SIDE });

export const PtyParams = Type.Object(
  {
    max_controllers: Type.Integer({ minimum: 1, maximum: 1_000, default: 1, description: 'Most controllers at once.' }),
    max_observers: Type.Integer({ minimum: 0, maximum: 10_000, default: 32, description: 'Most observers at once.' }),
    keyframe_interval_seconds: Type.Integer({
      minimum: 1,
      maximum: 86_400,
      default: 5,
      description: 'A Keyframe at least this often during active output.',
    }),
    keyframe_interval_frames: Type.Integer({
      minimum: 1,
      maximum: 1_000_000,
      default: 100,
      description: 'A Keyframe after at most this many Output frames.',
    }),
    replay_buffer_frames: Type.Integer({ minimum: 1, maximum: 10_000_000, default: 1000, description: 'Frames kept at the least.' }),
    replay_buffer_retention_seconds: Type.Integer({
      minimum: 1,
      maximum: 31_536_000,
      default: 86400,
      description: 'Seconds for which frames are kept at the least.',
    }),
    default_cols: Type.Integer({ minimum: 1, maximum: MAX_SIDE, default: 120, description: 'Width where nobody asked for one.' }),
    default_rows: Type.Integer({ minimum: 1, maximum: MAX_SIDE, default: 30, description: 'Height where nobody asked for one.' }),
  },
  { $id: 'PtyParams', additionalProperties: false, description: 'Parameters of pty-extensions/v1 (pty-ext §4.1).' },
);
export type PtyParams = Static<typeof PtyParams>;
