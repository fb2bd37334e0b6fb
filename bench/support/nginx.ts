// nginx by deploy/nginx.conf before any number of gateways; who may get new connections can be changed. Knows no gateway but by its port.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '../../test/support/free-port.js';
import { until } from '../../test/support/redis.js';
import type { Balancer } from './balancer.js';

type Gateway = { readonly port: number };

/** Its files are in `folder`; resolves when a gateway answers through it. */
export async function startNginx(gateways: readonly Gateway[], folder: string): Promise<Balancer> {
  const port = await freePort();
  const file = join(folder, 'nginx.conf');
  // As a whole: nginx may be reading.
  const write = async (among: readonly Gateway[]) => {
    await writeFile(`${file}.new`, await configuration(among, { port, folder }));
    await rename(`${file}.new`, file);
  };
  await write(gateways);
  const nginx = spawn('nginx', ['-c', file, '-p', folder, '-e', 'stderr'], { stdio: ['ignore', 'ignore', 'inherit'] });
  await once(nginx, 'spawn');
  await until('nginx finds a gateway', () => answers(port));
  return {
    port,
    // Connections that are open stay with the workers that have them.
    routeTo: async (among) => {
      await write(among);
      nginx.kill('SIGHUP');
    },
    stop: () => end(nginx),
  };
}

/** As it is deployed, but for who the gateways are, and as a process that a test owns. */
async function configuration(among: readonly Gateway[], { port, folder }: { port: number; folder: string }): Promise<string> {
  const deployed = await readFile('deploy/nginx.conf', 'utf8');
  const servers = among.map((one) => `    server 127.0.0.1:${one.port} max_fails=0;\n`).join('');
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((of) => `  ${of}_temp_path ${folder}/nginx-${of};\n`).join('');
  const routed = deployed.replace(/( {4}server gateway-.*\n)+/, servers).replace(/listen 8080/, `listen 127.0.0.1:${port}`);
  return `daemon off;\npid ${folder}/nginx.pid;\nworker_processes 1;\n${routed.replace('http {\n', `http {\n${temporary}`)}`;
}

function answers(port: number): Promise<boolean> {
  return fetch(`http://127.0.0.1:${port}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  );
}

async function end(nginx: ChildProcess): Promise<void> {
  if (nginx.exitCode !== null) return;
  const gone = once(nginx, 'exit');
  nginx.kill('SIGTERM');
  await gone;
}
