// The thread that draws, except that it ends where a screen says DIE, and hangs where it says HANG.
import { Fold } from '../../../src/terminal/fold.js';

const { piece } = Fold.prototype;
Fold.prototype.piece = function (bytes) {
  const text = Buffer.from(bytes).toString('latin1');
  if (text.includes('DIE')) process.exit(1);
  while (text.includes('HANG'));
  piece.call(this, bytes);
};
await import('../../../src/terminal/picture/picture-worker.js');
