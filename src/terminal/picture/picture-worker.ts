// The thread that draws pictures, one after the other. Knows an order by its number.
import { parentPort, workerData } from 'node:worker_threads';
import { stepBack } from '../step-back.js';
import { draw, type PictureOrder, Undrawable } from './draw.js';

export interface Told {
  readonly id: number;
  readonly order: PictureOrder;
}

export type Drawn = { readonly id: number; readonly bytes: Uint8Array } | { readonly id: number; readonly trouble: string };

/** What the thread is started with. */
export interface Studio {
  /** A folder, as `pngOf` takes it. */
  readonly fonts: string | undefined;
}

const { fonts } = workerData as Studio;
const port = parentPort;
if (!port) throw new Error('picture-worker is started by pictures.ts, as a thread');

stepBack();
port.on('message', ({ id, order }: Told) => {
  try {
    const bytes = draw(order, fonts);
    port.postMessage({ id, bytes } satisfies Drawn);
  } catch (error) {
    port.postMessage({ id, trouble: error instanceof Undrawable ? error.message : 'it cannot be drawn' } satisfies Drawn);
  }
});
