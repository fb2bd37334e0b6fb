// Clients of the reference implementation at a real gateway and a real terminal: attach, type, resize, lose the connection, come back, see the end.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import xterm from '@xterm/headless';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Gateway, startGateway } from '../routes/gateway.js';
import { LegacyClient, type LegacyFrame, outputOf } from '../support/legacy-client.js';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

interface Session {
  readonly session_id: string;
  readonly pty_ws_url: string;
}

const join = ({ pty_ws_url }: Session, options: object = {}, payload: object = { role: 'controller', cols: 80, rows: 24 }) =>
  LegacyClient.join(pty_ws_url, { token: gateway.token(), ...options }, payload);

/** What the reference's dashboard does with what it is sent. */
async function dashboard(frames: readonly LegacyFrame[]): Promise<string[]> {
  const terminal = new xterm.Terminal({ cols: 80, rows: 24, allowProposedApi: true, scrollback: 1 });
  const write = (data: string) => new Promise<void>((done) => terminal.write(Buffer.from(data, 'base64'), done));
  const show = async ({ op, payload }: Pick<LegacyFrame, 'op' | 'payload'>): Promise<void> => {
    if (op === 'output') await write(payload.data);
    if (op === 'resize') terminal.resize(payload.cols, payload.rows);
    if (op === 'keyframe') {
      terminal.reset();
      for (const nested of payload.frames) await show(nested);
    }
  };
  for (const frame of frames) await show(frame);
  const { active } = terminal.buffer;
  return Array.from({ length: terminal.rows }, (_, row) => active.getLine(active.baseY + row)?.translateToString(true) ?? '');
}

async function screenOf({ session_id }: Session): Promise<string[]> {
  const { json } = await gateway.call('GET', `/agents/free/sessions/${session_id}/screen?format=json`);
  return json.lines.map((line: string | { text: string }) => (typeof line === 'string' ? line : line.text).trimEnd());
}

describe('a legacy client at a real terminal', () => {
  it('types, is echoed, and its size is the size of the terminal', async () => {
    const session = await gateway.session();
    const client = await join(session);
    client.type('stty size; echo $((40+2))\r');
    await client.shown('24 80\r\n42');
    client.say('pty.session_resize', { cols: 101, rows: 31 });
    expect((await client.until('resize')).payload).toEqual({ cols: 101, rows: 31 });
    client.type('stty size\r');
    await client.shown('31 101');
    client.cut();
  });

  it('that is cut off in the middle of output and comes back, again and again, misses no line and gets none twice', async () => {
    const go = path.join(gateway.dataDir, 'go');
    const script = `for n in 0 1 2 3; do until [ -e "$1$n" ]; do sleep 0.01; done; seq -f 'line %.0f' $((n*500+1)) $((n*500+500)); done; read end`;
    const session = await gateway.session({ argv: ['/bin/sh', '-c', script, 'sh', go] });
    const seen: LegacyFrame[] = [];
    let client = await join(session);
    for (const block of [0, 1, 2, 3]) {
      writeFileSync(`${go}${block}`, '');
      await client.shown(`line ${block * 500 + 20}\r\n`);
      client.cut();
      seen.push(...client.frames);
      client = await join(session, { replayFrom: client.lastSeq });
    }
    while (!outputOf([...seen, ...client.frames]).includes('line 2000\r\n')) await client.read();
    seen.push(...client.frames);
    expect(outputOf(seen).split('\r\n')).toEqual([...Array.from({ length: 2000 }, (_, i) => `line ${i + 1}`), '']);
    client.cut();
  });

  it('shows, when it comes back from any place, the screen that everyone sees', async () => {
    const script = String.raw`read go; for i in $(seq 1 300); do printf 'a %s\033[3%smb\033[m\r\n' $i $((i % 8)); [ $((i % 20)) = 0 ] && sleep 0.01; done; printf '\033[2J\033[5;5Hmiddle\033[10;1Hend'; read end`;
    const session = await gateway.session({ argv: ['/bin/bash', '-c', script] });
    const first = await join(session);
    first.type('\r');
    await first.shown('end');
    const expected = await screenOf(session);
    expect(expected[4]).toBe('    middle');
    const last = first.lastSeq;
    for (const place of [0, 1, Math.ceil(last / 2), last - 1, last]) {
      const again = await LegacyClient.attach(session.pty_ws_url, { token: gateway.token(), replayFrom: place });
      expect((await again.until('keyframe')).payload.cursor).toBe(place);
      again.say('pty.join_session', { role: 'observer' });
      await again.until('role_assigned');
      await again.until('membership_changed');
      expect(await dashboard(again.frames)).toEqual(expected);
      again.cut();
    }
    first.cut();
  });

  it('is told how the process ended and closed with 1000; coming back from behind that, that it is over', async () => {
    const session = await gateway.session();
    const client = await join(session);
    client.type('exit 7\r');
    expect((await client.until('closed')).payload).toMatchObject({ exit_code: 7, reason: 'command_result' });
    expect(await client.closed()).toBe(1000);
    const again = await LegacyClient.attach(session.pty_ws_url, { token: gateway.token(), replayFrom: client.lastSeq });
    expect((await again.until('error')).payload.code).toBe('session.closed');
    expect(await again.closed()).toBe(1000);
    const earlier = await join(session, { replayFrom: 0 });
    expect((await earlier.until('closed')).payload.exit_code).toBe(7);
    expect(earlier.output).toContain('exit 7');
    expect(await earlier.closed()).toBe(1000);
  });

  it('shares it with one that speaks pty-ws/v1: each sees the other come, type and go', async () => {
    const session = await gateway.session();
    const modern = await gateway.join(session);
    const old = await join(session);
    expect(old.frames.find(({ op }) => op === 'role_assigned')?.payload).toMatchObject({ role: 'observer', downgraded: true });
    expect(
      (await modern.until(({ payload }) => payload.kind === 'MembershipChanged' && payload.observers.length === 1)).payload.controllers,
    ).toEqual([{ client_id: modern.clientId }]);
    old.type('never\r');
    expect((await old.until('error')).payload.code).toBe('pty.permission_denied');
    old.cut();
    await modern.until(({ payload }) => payload.kind === 'MembershipChanged' && payload.observers.length === 0);
  });

  it('with its token as a subprotocol, as a browser sends it, is let in, and the token is not echoed', async () => {
    const session = await gateway.session();
    const bearer = `bearer.${Buffer.from(gateway.token()).toString('base64url')}`;
    const client = await join(session, { token: '', protocols: ['pty-ws.v1', bearer] });
    expect(client.head).toMatch(/sec-websocket-protocol: pty-ws\.v1$/im);
    client.cut();
  });
});
