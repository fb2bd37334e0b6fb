// What `OSC 1337 ; File=` carries (iTerm's inline images): an image, if it is one that may be shown. Pure: knows no terminal.
import { fromBase64 } from '../../../src/client/base64.js';

/** Bytes of an image as it was printed, decoded from base64. */
export const MAX_IMAGE_BYTES = 4 * 1024 * 1024;
/** Pixels of an image; the browser takes four bytes for each. */
export const MAX_IMAGE_PIXELS = 16_000_000;
/** Characters before the colon: name, sizes. */
const MAX_HEAD_CHARS = 4096;
const MAX_BASE64_CHARS = Math.ceil(MAX_IMAGE_BYTES / 3) * 4;

export interface ImageFile {
  readonly type: string;
  /** In pixels of its own. */
  readonly width: number;
  readonly height: number;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** Undefined for what is no PNG, JPEG or GIF to be shown inline, and for what is too large; its pixels are told by its own head, before it is decoded. */
export function imageIn(payload: string): ImageFile | undefined {
  const colon = payload.slice(0, MAX_HEAD_CHARS).indexOf(':');
  const isInline = payload.startsWith('File=') && payload.slice(5, colon).split(';').includes('inline=1');
  if (colon < 0 || !isInline || payload.length - colon - 1 > MAX_BASE64_CHARS) return undefined;
  const bytes = decoded(payload.slice(colon + 1));
  const head = bytes && (png(bytes) ?? gif(bytes) ?? jpeg(bytes));
  if (!head || head.width * head.height > MAX_IMAGE_PIXELS || head.width * head.height === 0) return undefined;
  return { ...head, bytes };
}

function decoded(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(fromBase64(base64));
  } catch {
    return undefined;
  }
}

type Head = Omit<ImageFile, 'bytes'>;

const viewOf = (bytes: Uint8Array) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

function png(bytes: Uint8Array): Head | undefined {
  const view = viewOf(bytes);
  if (bytes.length < 24 || view.getUint32(0) !== 0x89504e47 || view.getUint32(12) !== 0x49484452) return undefined;
  return { type: 'image/png', width: view.getUint32(16), height: view.getUint32(20) };
}

function gif(bytes: Uint8Array): Head | undefined {
  const view = viewOf(bytes);
  if (bytes.length < 10 || view.getUint32(0) !== 0x47494638) return undefined;
  return { type: 'image/gif', width: view.getUint16(6, true), height: view.getUint16(8, true) };
}

/** The size stands in its frame header (SOF0 to SOF15, but for DHT, JPG and DAC), behind segments that tell their own length. */
function jpeg(bytes: Uint8Array): Head | undefined {
  const view = viewOf(bytes);
  if (bytes.length < 4 || view.getUint16(0) !== 0xffd8) return undefined;
  for (let at = 2; at + 9 <= bytes.length && bytes[at] === 0xff; at += 2 + view.getUint16(at + 2)) {
    const marker = bytes[at + 1] as number;
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) return { type: 'image/jpeg', width: view.getUint16(at + 7), height: view.getUint16(at + 5) };
  }
  return undefined;
}
