// An archive's objects in a bucket of S3, or of a server that speaks as it does. Knows no session.
import type { Readable } from 'node:stream';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  NoSuchKey,
  PutObjectCommand,
  S3Client,
  type S3ClientConfig,
} from '@aws-sdk/client-s3';
import { type ArchiveStore, demandReadable, MAX_OBJECT_BYTES } from './store.js';

/** How often a request is tried in all, how long a connection is waited for, and how long an answer, in milliseconds. */
const ATTEMPTS = 3;
const CONNECT_MS = 3_000;
const ANSWER_MS = 15_000;
/** Objects that are deleted at the same time. */
const DELETED_AT_ONCE = 8;

export interface S3Place {
  readonly bucket: string;
  /** Without a slash at either end; empty for the whole bucket. */
  readonly prefix: string;
  /** Of a server that is not Amazon's. */
  readonly endpoint?: string | undefined;
  /** Whether the bucket is the first part of the path, not of the host. */
  readonly pathStyle: boolean;
  /** Names in one answer to a list; as many as the server gives if absent. */
  readonly pageSize?: number;
}

/** Region and credentials are where AWS's own tools look for them: AWS_REGION, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, a role … */
export function s3Store(place: S3Place): ArchiveStore {
  return new S3Store(place, new S3Client(settings(place)));
}

function settings({ endpoint, pathStyle }: S3Place): S3ClientConfig {
  return {
    ...(endpoint === undefined ? {} : { endpoint }),
    // Servers of one's own have no regions, and want one named.
    ...(endpoint !== undefined && !process.env.AWS_REGION ? { region: 'us-east-1' } : {}),
    forcePathStyle: pathStyle,
    maxAttempts: ATTEMPTS,
    requestHandler: { connectionTimeout: CONNECT_MS, requestTimeout: ANSWER_MS, throwOnRequestTimeout: true },
    // Servers that are not Amazon's do not all know the newer checksums; each entry has one of its own.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  };
}

class S3Store implements ArchiveStore {
  readonly place: string;
  readonly #client: S3Client;
  readonly #bucket: string;
  readonly #before: string;
  readonly #pageSize: number | undefined;

  constructor({ bucket, prefix, pageSize }: S3Place, client: S3Client) {
    this.place = `s3://${bucket}/${prefix}`;
    this.#client = client;
    this.#bucket = bucket;
    this.#before = prefix === '' ? '' : `${prefix}/`;
    this.#pageSize = pageSize;
  }

  async put(name: string, bytes: Uint8Array): Promise<void> {
    await this.#client.send(new PutObjectCommand({ ...this.#object(name), Body: bytes, ContentType: 'application/octet-stream' }));
  }

  async get(name: string): Promise<Buffer | undefined> {
    try {
      const { Body, ContentLength = 0 } = await this.#client.send(new GetObjectCommand(this.#object(name)));
      if (ContentLength > MAX_OBJECT_BYTES) (Body as Readable).destroy();
      demandReadable(name, ContentLength);
      return Body && Buffer.from(await Body.transformToByteArray());
    } catch (error) {
      if (error instanceof NoSuchKey) return undefined;
      throw error;
    }
  }

  async list(folder: string): Promise<string[]> {
    const names: string[] = [];
    let ContinuationToken: string | undefined;
    do {
      const page = { MaxKeys: this.#pageSize, ContinuationToken };
      const command = new ListObjectsV2Command({ Bucket: this.#bucket, Prefix: this.#before + folder, ...page });
      const { Contents = [], NextContinuationToken } = await this.#client.send(command);
      names.push(...Contents.flatMap(({ Key }) => Key?.slice(this.#before.length) ?? []));
      ContinuationToken = NextContinuationToken;
    } while (ContinuationToken);
    return names.sort();
  }

  /** One by one: not all servers know how to delete many at once. */
  async delete(names: readonly string[]): Promise<void> {
    const left = [...names];
    const lane = async (): Promise<void> => {
      for (let name = left.pop(); name !== undefined; name = left.pop()) {
        await this.#client.send(new DeleteObjectCommand(this.#object(name)));
      }
    };
    await Promise.all(Array.from({ length: DELETED_AT_ONCE }, lane));
  }

  close(): void {
    this.#client.destroy();
  }

  #object(name: string): { Bucket: string; Key: string } {
    return { Bucket: this.#bucket, Key: this.#before + name };
  }
}
