import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Keyring } from '../../src/keyring.js';
import type { Numbered } from '../../src/log/log.js';
import { sealedLog } from '../../src/log/sealed/sealed-log.js';
import { noMeter } from '../../src/metrics/meter.js';
import { readPayload } from '../../src/protocol/make-frames.js';
import { formsOf } from '../../src/redaction/forms.js';
import { Redaction } from '../../src/redaction/redaction.js';
import { OwnedSession } from '../../src/session/owned-session.js';
import type { KeptSession } from '../../src/session/record.js';
import { keptSecrecy } from '../../src/session/secrecy.js';
import type { Session } from '../../src/session/session.js';
import { spawnTerminal } from '../../src/terminal/pty.js';
import { agent, type House, noPush, openHouse, Watcher } from '../support/house.js';

const SECRET = 'correct+horse/battery=staple-42';

let house: House;
beforeEach(async () => {
  house = await openHouse();
});
afterEach(() => house.close());

async function logOf(session: Session): Promise<Numbered[]> {
  return session.frames.read(0, { frames: 10_000, bytes: 100_000_000 });
}

/** All that lies in a folder. */
function filesIn(dir: string): Buffer {
  const files = readdirSync(dir, { recursive: true, withFileTypes: true }).filter((file) => file.isFile());
  return Buffer.concat(files.map((file) => readFileSync(path.join(file.parentPath, file.name))));
}

const formsIn = (bytes: Buffer): string[] =>
  formsOf(SECRET)
    .map((form) => Buffer.from(form).toString())
    .filter((form) => bytes.includes(form));

/** Types a line into bash and waits for what it prints. */
async function typed(watcher: Watcher, line: string): Promise<void> {
  await watcher.type(`${line}; echo 'do''ne'\r`);
  await watcher.until(() => watcher.output().includes('done\r\n'));
}

describe('A session that was given a secret', () => {
  it('shows it to nobody: not live, not in the log, not in a Keyframe, not on the screen, and not on the disk', async () => {
    const session = await house.sessions.create(agent(), { secrets: [SECRET] }, 'p');
    const watcher = await Watcher.join(session);
    await typed(watcher, `echo before ${SECRET} after; printf '\\033]0;%s\\007' '${SECRET}'; echo -n '${SECRET}' | base64`);
    expect(watcher.output()).toContain(`before ${'*'.repeat(SECRET.length)} after`);
    await session.requestKeyframe(watcher.id);
    const keyframe = await watcher.delivered(0);
    const screen = `${JSON.stringify(await session.view())}${Buffer.from(String(keyframe.snapshot), 'base64')}`;
    expect(screen).toContain('before');
    const seen = [watcher.output(), screen, ...(await logOf(session)).map(({ body }) => Buffer.from(body).toString())];
    await session.end('killed');
    await watcher.until(() => watcher.kinds().includes('Closed'));
    expect(formsIn(Buffer.from(seen.join('\n')))).toEqual([]);
    const kept = filesIn(house.dir);
    expect(kept.includes('before')).toBe(true);
    expect(formsIn(kept)).toEqual([]);
  });

  it('finds it when the echo of a long line wraps, and when it is typed letter by letter', async () => {
    // Each of its letters waits for the next one, so it is a short one.
    const secret = 'tea+pot/42';
    const session = await house.sessions.create(agent(), { secrets: [secret], cols: 20, rows: 10 }, 'p');
    const watcher = await Watcher.join(session);
    await watcher.until(() => watcher.output().includes('$ '));
    for (const letter of `: ${secret}`) {
      const before = watcher.output().length;
      await watcher.type(letter);
      await watcher.until(() => watcher.output().length > before);
    }
    await typed(watcher, `; echo x${secret}y`);
    expect((await session.view()).lines.join('')).not.toContain(secret);
    // Half of it may have been shown before it could be told from something else.
    expect(watcher.output()).not.toContain(secret.slice(0, secret.length / 2 + 1));
    expect(watcher.output()).not.toContain(secret.slice(secret.length / 2));
  });

  it('is told as sensitive, running and closed, and its record has no secret', async () => {
    const session = await house.sessions.create(agent(), { secrets: [SECRET], label: `with ${SECRET}` }, 'p');
    const told = { sensitive: true, label: `with ${'*'.repeat(SECRET.length)}` };
    expect(session.describe()).toMatchObject(told);
    expect(JSON.stringify(await house.log.record(session.id))).not.toContain(SECRET);
    const watcher = await Watcher.join(session, 'controller', { label: SECRET });
    expect(JSON.stringify(session.describe())).not.toContain(SECRET);
    await session.end('killed');
    await watcher.until(() => watcher.kinds().includes('Closed'));
    expect((await house.sessions.find('inst', session.id))?.describe()).toMatchObject(told);
  });

  it('keeps messages without it', async () => {
    const session = await house.sessions.create(agent(), { secrets: [SECRET] }, 'p');
    const message = { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: `echo ${SECRET}` }] };
    const task = await session.task.send(message, { author: 'message', serviceParameters: { note: SECRET } });
    expect(task.history).toMatchObject([{ messageId: 'm1', parts: [{ text: `echo ${'*'.repeat(SECRET.length)}` }] }]);
    expect((await logOf(session)).map(({ body }) => Buffer.from(body).toString()).join()).not.toContain(SECRET);
  });

  it('says what cannot be done with secrets', async () => {
    const refused = (message: string) => expect.objectContaining({ code: 'INVALID_REQUEST', status: 400, message });
    const create = (request: object) => house.sessions.create(agent(), request, 'p');
    await expect(create({ secrets: [SECRET], redaction: 'off' })).rejects.toThrow(refused('secrets: cannot be given with redaction off'));
    await expect(create({ secrets: [SECRET, '\n\n\nab'] })).rejects.toThrow(
      refused('body.secrets.1: expected at least 4 characters that a terminal shows'),
    );
    expect(await house.log.records()).toEqual([]);
  });

  it('tells in words that hold no secret why it cannot start', async () => {
    const create = house.sessions.create(agent(), { argv: [`/no/${SECRET}`], secrets: [SECRET] }, 'p');
    await expect(create).rejects.toThrow(expect.objectContaining({ status: 422 }));
    await create.catch((error) => expect(error.message).not.toContain(SECRET));
  });
});

describe('Redaction without secrets', () => {
  it('finds tokens, and what an agent has patterns for', async () => {
    const token = `ghp_${'a1B2'.repeat(9)}`;
    const session = await house.sessions.create(agent({ policy: { redaction_patterns: ['employee-[0-9]+'] } }), {}, 'p');
    const watcher = await Watcher.join(session);
    await typed(watcher, `echo ${token} employee-12345`);
    expect(watcher.output()).toContain(`\r${'ghp_'.padEnd(token.length, '*')} **************`);
    expect(watcher.output()).not.toMatch(/a1B2a1B2|employee-1/);
  });

  it('can be off, for an agent or for one session', async () => {
    const token = `ghp_${'a1B2'.repeat(9)}`;
    const off = agent({ policy: { redaction: 'off' } });
    for (const [who, request] of [
      [off, {}],
      [agent(), { redaction: 'off' }],
    ] as const) {
      const session = await house.sessions.create(who, request, 'p');
      const watcher = await Watcher.join(session);
      await typed(watcher, `echo ${token}`);
      expect(watcher.output()).toContain(`\r${token}`);
      expect(session.describe().redaction).toBe('off');
    }
    const on = await house.sessions.create(off, { secrets: [SECRET] }, 'p');
    expect(on.describe().redaction).toBeUndefined();
  });
});

describe('A raw live stream', () => {
  it('shows what was printed to those who watch live, under the numbers of the log, which has it redacted', async () => {
    const session = await house.sessions.create(agent(), { secrets: [SECRET], live_stream: 'raw' }, 'p');
    expect(session.describe().live_stream).toBe('raw');
    const watcher = await Watcher.join(session);
    await typed(watcher, `echo before ${SECRET} after`);
    expect(watcher.output()).toContain(`before ${SECRET} after`);
    const outputs = watcher.frames.filter(({ kind }) => kind === 'Output');
    const log = await logOf(session);
    for (const live of outputs) {
      const kept = log.find(({ sequence }) => sequence === live.sequence);
      expect(kept?.body.length).toBe(live.body.length);
    }
    expect(Buffer.concat(log.map(({ body }) => Buffer.from(body))).includes(SECRET)).toBe(false);
    expect(JSON.stringify(await session.view())).not.toContain(SECRET);
  });
});

describe('A redaction that fails', () => {
  it('shows nothing more, says so once, and ends the session', async () => {
    class Broken extends Redaction {
      override stream(...[cols, , failed]: Parameters<Redaction['stream']>) {
        return super.stream(
          cols,
          () => {
            throw new Error(SECRET);
          },
          failed,
        );
      }
    }
    const shell = agent();
    const kept: KeptSession = {
      ...keptSecrecy(shell, {}, false),
      session_id: '0190a000-0000-7000-8000-000000000001',
      instance_id: shell.id,
      context_id: 'c',
      state: 'running',
      created_at: new Date().toISOString(),
      cols: 80,
      rows: 24,
      created_by: 'p',
      replica_id: 'here',
      pty: shell.pty,
    };
    let failures = 0;
    let over = () => {};
    const ended = new Promise<void>((resolve) => {
      over = resolve;
    });
    const writer = await house.log.create(kept.session_id, kept, { frames: 100, seconds: 100 });
    const session = new OwnedSession({
      agent: shell,
      kept,
      writer,
      screens: house.screens,
      meter: noMeter,
      redaction: new Broken([], []),
      redactionFailed: () => void failures++,
      loud: () => {},
      claim: () => house.log.claim(kept.session_id),
      push: noPush,
      ended: () => over(),
    });
    const events = { output: (bytes: Uint8Array) => session.printed(bytes), exit: session.exited.bind(session) };
    session.own(
      await spawnTerminal({ argv: ['/bin/sh', '-c', 'while echo x; do sleep 0.01; done'], cwd: '/', env: {}, cols: 80, rows: 24 }, events),
    );
    await ended;
    expect(failures).toBe(1);
    const log = await logOf(session);
    expect(log.map(({ kind }) => kind)).not.toContain('Output');
    expect(log.filter(({ kind }) => kind === 'Closed').map(readPayload)).toMatchObject([{ reason: 'instance_terminated' }]);
  });
});

describe('What a successor needs', () => {
  it('is kept where nobody can read it, and nowhere else', async () => {
    const keys = new Keyring([{ kid: 'k', key: new Uint8Array(32) }]);
    expect(sealedLog(house.log, keys).isSealed?.()).toBe(true);
    expect(sealedLog(house.log, new Keyring([])).isSealed?.()).toBe(false);
    expect(keptSecrecy(agent(), { secrets: [SECRET] }, true)).toEqual({ sensitive: true, secrets: [SECRET] });
    expect(keptSecrecy(agent(), { secrets: [SECRET] }, false)).toEqual({ sensitive: true });
  });
});
