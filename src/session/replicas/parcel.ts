// What replicas hand each other: some JSON, and bytes as they are. Knows no bus.

export interface Parcel {
  /** Any JSON; undefined is nothing. */
  readonly data?: unknown;
  readonly bytes?: Uint8Array;
}

/** The length of the JSON in four bytes, the JSON, the bytes. */
export function pack(head: unknown, bytes: Uint8Array = new Uint8Array()): Buffer {
  const json = Buffer.from(JSON.stringify(head));
  const length = Buffer.allocUnsafe(4);
  length.writeUInt32BE(json.byteLength);
  return Buffer.concat([length, json, bytes]);
}

/** The other way; `bytes` is a view. Throws a SyntaxError or RangeError if it is no such thing. */
export function unpack(packed: Uint8Array): { readonly head: unknown; readonly bytes: Buffer } {
  const all = Buffer.from(packed.buffer, packed.byteOffset, packed.byteLength);
  const end = 4 + all.readUInt32BE(0);
  if (end > all.byteLength) throw new RangeError(`a parcel of ${all.byteLength} bytes says that its head ends at ${end}`);
  return { head: JSON.parse(all.toString('utf8', 4, end)), bytes: all.subarray(end) };
}
