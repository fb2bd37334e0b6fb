// Images that a program prints, beside the text; loaded when they are wanted. No cell is changed by them and the cursor stays where the gateway has it,
// so that all see the same text. Knows no connection.
import type { IMarker, Terminal } from '@xterm/xterm';
import { showDialog } from '../shared/dialog.js';
import { h } from '../shared/dom.js';
import { type ImageFile, imageIn } from './image-file.js';

/** Images that are kept of one terminal, the newest of them. */
const MAX_IMAGES = 8;
/** Cells that an image takes at most, at the right edge; the whole of it is shown by a click. */
const MAX_COLS = 40;
const MAX_ROWS = 12;

export interface InlineImages {
  clear(): void;
  dispose(): void;
}

export function showImages(terminal: Terminal): InlineImages {
  /** Where those are that are shown or decoded, the oldest first. */
  const places: IMarker[] = [];
  // One after the other: what decoding takes is that of one.
  let decoding = Promise.resolve();
  const clear = () => {
    for (const place of places.splice(0)) place.dispose();
  };
  const handler = terminal.parser.registerOscHandler(1337, (payload) => {
    const file = imageIn(payload);
    // The lines of a full screen are not kept, and nothing is laid beside them.
    if (!file || terminal.buffer.active.type === 'alternate') return true;
    const place = terminal.registerMarker(0);
    places.push(place);
    if (places.length > MAX_IMAGES) places.shift()?.dispose();
    decoding = decoding.then(() => show(terminal, file, place)).catch(() => place.dispose());
    return true;
  });
  return {
    clear,
    dispose() {
      handler.dispose();
      clear();
    },
  };
}

async function show(terminal: Terminal, file: ImageFile, place: IMarker): Promise<void> {
  if (place.isDisposed) return;
  const canvas = await drawn(file);
  const box = cellsFor(terminal, file);
  const decoration = terminal.registerDecoration({ marker: place, anchor: 'right', layer: 'top', width: box.cols });
  const opener = h('button', { type: 'button', class: 'inline-image', 'aria-label': 'Show the whole image', onclick: open }, canvas);
  // The terminal would begin a selection.
  opener.addEventListener('mousedown', (event) => event.stopPropagation());
  decoration?.onRender((element) => {
    if (opener.parentElement !== element) element.append(opener);
    // xterm leaves one without a distance from that edge where it is.
    element.style.right = '0';
    opener.style.height = `${box.rows * element.clientHeight}px`;
    // Above the text that follows, where there is room.
    opener.classList.toggle('below', place.line - terminal.buffer.active.viewportY < box.rows);
  });
  function open() {
    void drawn(file).then((whole) => showDialog('Image', 'image', whole));
  }
}

async function drawn({ bytes, type }: ImageFile): Promise<HTMLCanvasElement> {
  const bitmap = await createImageBitmap(new Blob([bytes], { type }));
  const canvas = h('canvas', { width: bitmap.width, height: bitmap.height });
  canvas.getContext('2d')?.drawImage(bitmap, 0, 0);
  bitmap.close();
  return canvas;
}

/** As it is if there is room, else smaller. */
function cellsFor(terminal: Terminal, { width, height }: ImageFile): { readonly cols: number; readonly rows: number } {
  const screen = terminal.element?.querySelector('.xterm-screen');
  const cellWidth = Math.max(1, (screen?.clientWidth ?? 0) / terminal.cols);
  const cellHeight = Math.max(1, (screen?.clientHeight ?? 0) / terminal.rows);
  const room = {
    width: cellWidth * Math.min(MAX_COLS, Math.ceil(terminal.cols / 2)),
    height: cellHeight * Math.min(MAX_ROWS, Math.ceil(terminal.rows / 2)),
  };
  const scale = Math.min(1, room.width / width, room.height / height);
  return { cols: Math.ceil((width * scale) / cellWidth), rows: Math.ceil((height * scale) / cellHeight) };
}
