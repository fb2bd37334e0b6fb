// A server that speaks as S3 does, in memory, on a free port. Knows no archive.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { freePort } from './free-port.js';
import { until } from './redis.js';

const BUCKET = 'terminals';

export interface S3Server {
  readonly bucket: string;
  readonly endpoint: string;
  /** What a gateway needs to know of it. */
  readonly env: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

/** Of `moto_server`; anybody may do anything there. */
export async function startS3(): Promise<S3Server> {
  const port = await freePort();
  const endpoint = `http://127.0.0.1:${port}`;
  const server = spawn('moto_server', ['-H', '127.0.0.1', '-p', `${port}`], { stdio: 'ignore' });
  const isUp = () =>
    fetch(`${endpoint}/${BUCKET}`, { method: 'PUT' }).then(
      ({ status }) => status === 200,
      () => false,
    );
  await until('the S3 server answers', isUp);
  const stop = async (): Promise<void> => {
    const gone = once(server, 'exit');
    server.kill();
    await gone;
  };
  const env = { ARCHIVE_ENDPOINT: endpoint, AWS_ACCESS_KEY_ID: 'any', AWS_SECRET_ACCESS_KEY: 'any' };
  return { bucket: BUCKET, endpoint, env, stop };
}
