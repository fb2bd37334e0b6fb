// The screen worker, except that it ends where a stream says DIE, hangs where it says HANG, and throws where it says THROW.
import { Fold } from '../../src/terminal/fold.js';

const { piece } = Fold.prototype;
Fold.prototype.piece = function (bytes) {
  const text = Buffer.from(bytes).toString('latin1');
  if (text.includes('DIE')) process.exit(1);
  while (text.includes('HANG'));
  if (text.includes('THROW')) throw new Error('as told');
  piece.call(this, bytes);
};
await import('../../src/terminal/screen-worker.js');
