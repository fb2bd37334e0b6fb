// A server that speaks as S3 does, on a free port, with one empty bucket. Knows no archive.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { freePort } from './free-port.js';
import { until } from './redis.js';

const BUCKET = 'terminals';
const KEY = { accessKeyId: 'tester', secretAccessKey: 'a key for tests' };

/** Of moto anybody may do anything; the others check who asks. */
const servers: Readonly<Record<string, (port: string, dir: string) => readonly string[]>> = {
  moto_server: (port) => ['-H', '127.0.0.1', '-p', port],
  minio: (port, dir) => ['server', '--address', `127.0.0.1:${port}`, '--console-address', '127.0.0.1:0', dir],
};

/** The program that is started: `moto_server`, or what S3_SERVER says. */
export const S3_PROGRAM = process.env.S3_SERVER ?? 'moto_server';

export interface S3Server {
  readonly bucket: string;
  readonly endpoint: string;
  /** What a gateway needs to know of it. */
  readonly env: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

export async function startS3(): Promise<S3Server> {
  const port = await freePort();
  const dir = await mkdtemp(path.join(tmpdir(), 's3-'));
  const endpoint = `http://127.0.0.1:${port}`;
  const args = servers[S3_PROGRAM];
  if (!args) throw new Error(`S3_SERVER: expected one of ${Object.keys(servers)}`);
  const env = { ...process.env, MINIO_ROOT_USER: KEY.accessKeyId, MINIO_ROOT_PASSWORD: KEY.secretAccessKey };
  const server = spawn(S3_PROGRAM, args(`${port}`, dir), { stdio: 'ignore', env });
  await until('the S3 server answers', () => makeBucket(endpoint));
  const stop = async (): Promise<void> => {
    await ended(server);
    await rm(dir, { recursive: true });
  };
  const keys = { AWS_ACCESS_KEY_ID: KEY.accessKeyId, AWS_SECRET_ACCESS_KEY: KEY.secretAccessKey };
  return { bucket: BUCKET, endpoint, env: { ARCHIVE_ENDPOINT: endpoint, ...keys }, stop };
}

async function makeBucket(endpoint: string): Promise<boolean> {
  const client = new S3Client({ endpoint, forcePathStyle: true, region: 'us-east-1', credentials: KEY, maxAttempts: 1 });
  return client
    .send(new CreateBucketCommand({ Bucket: BUCKET }))
    .then(
      () => true,
      () => false,
    )
    .finally(() => client.destroy());
}

async function ended(server: ChildProcess): Promise<void> {
  const gone = once(server, 'exit');
  server.kill();
  await gone;
}
