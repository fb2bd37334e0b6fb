// Which codec is spoken on a connection: the upgrade request says it, or else the first frame. Knows no socket.
import type { Codec } from '../protocol/codec.js';
import type { ClientEnvelope } from '../protocol/envelope.js';
import { jsonCodec } from '../protocol/json-codec.js';
import { legacyCodec } from '../protocol/legacy-codec.js';
import { isLegacyRequest } from '../protocol/legacy-requests.js';

/** Whether the client is one of the reference implementation's; `maybe` until its first frame. */
export type Legacy = 'no' | 'maybe' | 'yes';

export class Dialect {
  #codec: Codec;
  #isOpen: boolean;

  constructor(legacy: Legacy) {
    this.#codec = legacy === 'yes' ? legacyCodec : jsonCodec;
    this.#isOpen = legacy === 'maybe';
  }

  get codec(): Codec {
    return this.#codec;
  }

  /** What a TEXT frame asks for. The first that can be read settles how it goes on. Throws RequestFault. */
  decode(text: string): readonly ClientEnvelope[] {
    if (this.#isOpen && isLegacyRequest(text)) this.#codec = legacyCodec;
    const envelopes = this.#codec.decode(text);
    this.#isOpen = false;
    return envelopes;
  }
}
