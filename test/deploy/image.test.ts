// What the Dockerfile promises, read without Docker; and that what it leaves of the installed packages is all that a gateway needs.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { parse } from 'yaml';
import { mintToken } from '../../src/access/token.js';
import { FONTS } from '../../src/terminal/picture/png.js';
import { freePort } from '../support/free-port.js';
import { needs } from '../support/needs.js';
import { until } from '../support/redis.js';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const dockerfile = readFileSync('Dockerfile', 'utf8').replaceAll(/\\\n\s*/g, '');
const stage = dockerfile.slice(dockerfile.lastIndexOf('\nFROM'));
const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly version: string };
const SECRET = 'a secret of the tests, long enough for HS256';
/** Who owns nothing of the tree, and may start programs. */
const NOBODY = 1000;

describe('the Dockerfile', () => {
  it('builds on images of named versions, of one Debian, with a Node that gets repairs', () => {
    const images = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, image]) => image);
    const [, node = ''] = /^ARG NODE=(\d+\.\d+\.\d+)$/m.exec(dockerfile) ?? [];
    // Lines with an even number are those that are looked after for long.
    expect(Number.parseInt(node, 10) % 2).toBe(0);
    expect(images).toEqual([expect.stringMatching(/^node:\$\{NODE\}-trixie-slim$/), expect.stringMatching(/^debian:13\.\d+-slim$/)]);
  });

  it('runs the gateway as the user of the chart, by number, under an init', () => {
    const chart = readFileSync('helm/templates/statefulset.yaml', 'utf8');
    const [, uid] = /runAsUser: (\d+)/.exec(chart) ?? [];
    expect(stage).toMatch(new RegExp(`^USER ${uid}:${uid}$`, 'm'));
    expect(stage).toMatch(/^ENTRYPOINT \["tini", "--", "pty-gateway"\]\nCMD \["serve"\]$/m);
    expect(stage).toMatch(/^HEALTHCHECK .*CMD \["node", .*\/healthz/m);
  });

  it('is labelled with the version that the package and the chart have', () => {
    expect(stage).toMatch(new RegExp(`^ARG VERSION=${version.replaceAll('.', '\\.')}$`, 'm'));
    expect(parse(readFileSync('helm/Chart.yaml', 'utf8')).appVersion).toBe(version);
    for (const label of ['title', 'description', 'licenses', 'version', 'revision'])
      expect(stage).toContain(`org.opencontainers.image.${label}=`);
  });

  it('copies what is there, and nothing that only developers need', () => {
    const ignored = readFileSync('.dockerignore', 'utf8').split('\n');
    expect(ignored).toEqual(expect.arrayContaining(['.git', 'node_modules', 'dist', 'test', 'bench', 'docs', 'helm']));
    expect(dockerfile).toMatch(/npm run build && test -f dist\/descriptors\.node && npm prune --omit=dev .* && node scripts\/slim\.mjs/);
    expect(existsSync('scripts/slim.mjs')).toBe(true);
    expect(stage).not.toMatch(/apt-get|COPY \. /);
  });
});

needs('hadolint')('the Dockerfile, looked at by hadolint', () => {
  it('has nothing to complain of', () => {
    execFileSync('hadolint', ['Dockerfile'], { stdio: 'pipe' });
  });
});

interface Locked {
  readonly packages: Readonly<Record<string, { readonly dev?: boolean; readonly devOptional?: boolean }>>;
}

/** As links where that can be: nobody writes to them. */
function copy(places: readonly string[], to: string): void {
  const cp = (how: string) => execFileSync('cp', [how, '--parents', ...places, to], { stdio: 'pipe' });
  try {
    cp('-al');
  } catch {
    cp('-a');
  }
}

/** Installs what `npm prune --omit=dev` would leave, from what is installed here, and takes out what the image takes out. */
function layTree(tree: string): void {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as Locked;
  const kept = Object.entries(packages).filter(([place, { dev, devOptional }]) => !dev && !devOptional && existsSync(place));
  const outermost = kept.map(([place]) => place).filter((place) => /^node_modules\/(@[^/]+\/)?[^/]+$/.test(place));
  copy([...outermost, 'dist', 'package.json'], tree);
  execFileSync(process.execPath, ['scripts/slim.mjs', join(tree, 'node_modules')]);
}

describe('the tree of the image', () => {
  const tree = mkdtempSync(join(tmpdir(), 'image-'));
  const data = mkdtempSync(join(tmpdir(), 'image-data-'));
  const asRoot = process.getuid?.() === 0;
  let gateway: ChildProcess;
  let url: string;
  let said = '';
  beforeAll(async () => {
    layTree(tree);
    chmodSync(tree, 0o755);
    if (asRoot) chownSync(data, NOBODY, NOBODY);
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    gateway = spawn(process.execPath, ['dist/src/main.js', 'serve'], {
      cwd: tree,
      env: { PATH: '/usr/bin:/bin', NODE_ENV: 'production', PORT: `${port}`, DATA_DIR: data, HOME: data, AUTH_JWT_SECRET: SECRET },
      ...(asRoot && { uid: NOBODY, gid: NOBODY }),
    });
    for (const stream of [gateway.stdout, gateway.stderr])
      stream?.on('data', (text) => {
        said += text;
      });
    await until('it takes work', () =>
      fetch(`${url}/readyz`)
        .then(({ ok }) => ok)
        .catch(() => isThere()),
    );
  });
  /** False, while it may still come. */
  const isThere = () => {
    if (gateway.exitCode !== null) throw new Error(`it ended with ${gateway.exitCode}: ${said}`);
    return false;
  };
  afterAll(async () => {
    const gone = once(gateway, 'exit');
    if (gateway.exitCode === null && gateway.kill('SIGKILL')) await gone;
    for (const folder of [tree, data]) rmSync(folder, { recursive: true });
  });
  const ask = (path: string, init: RequestInit = {}) => {
    const authorization = `Bearer ${mintToken(SECRET, { sub: 'somebody', scope: 'pty:admin', ttlSeconds: 60 })}`;
    return fetch(`${url}${path}`, { ...init, headers: { authorization, 'content-type': 'application/json' } });
  };

  it('runs a terminal and its screen, draws it, and has the page, for a user who owns none of it', async () => {
    const begun = await ask('/agents/shell/sessions', { method: 'POST', body: '{}' });
    const { session_id } = (await begun.json()) as { readonly session_id: string };
    const picture = await ask(`/agents/shell/sessions/${session_id}/screen?format=png`);
    expect([begun.status, picture.status, picture.headers.get('content-type')]).toEqual([201, 200, 'image/png']);
    const page = await (await ask('/')).text();
    const [, script = ''] = /<script[^>]* src="([^"]+)"/.exec(page) ?? [];
    expect((await ask(new URL(script, `${url}/`).pathname)).status).toBe(200);
  });

  it('has every font that pictures are drawn in, and every licence', () => {
    for (const font of FONTS) expect(existsSync(join(tree, 'node_modules/dejavu-fonts-ttf/ttf', `${font}.ttf`)), font).toBe(true);
    for (const name of ['node-pty', 'dejavu-fonts-ttf', 'fastify'])
      expect(existsSync(join(tree, 'node_modules', name, 'LICENSE')), name).toBe(true);
  });

  it('is small: no other system, no sources, no tests', () => {
    const megabytes = Number(execFileSync('du', ['-s', '--apparent-size', '-B1000000', tree], { encoding: 'utf8' }).split('\t')[0]);
    expect(megabytes).toBeLessThan(60);
    expect(existsSync(join(tree, 'node_modules/node-pty/prebuilds/win32-x64/pty.node'))).toBe(false);
  });

  it('does everything else too: its modules for S3 and for traces load', () => {
    const load =
      "for (const name of ['@aws-sdk/client-s3', '@opentelemetry/sdk-trace-node', '@opentelemetry/exporter-trace-otlp-proto', 'ioredis']) await import(name)";
    execFileSync(process.execPath, ['--input-type=module', '--eval', load], { cwd: tree, stdio: 'pipe' });
  });
});
