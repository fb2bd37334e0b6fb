// Loaded into a gateway with --import: its workers of screens hang for ever over output that holds HANG. The fault itself; no part of the gateway has it.
import { StringDecoder } from 'node:string_decoder';
import { isMainThread } from 'node:worker_threads';

if (!isMainThread) {
  const { write } = StringDecoder.prototype;
  StringDecoder.prototype.write = function (bytes) {
    while (bytes.includes('HANG'));
    return write.call(this, bytes);
  };
}
