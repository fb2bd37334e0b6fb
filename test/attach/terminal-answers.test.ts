// Programs get one answer, however many terminals are attached that answer as well, live and when the past is replayed to them; keys pass.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Role } from '../../src/protocol/frames.js';
import { type Gateway, startGateway } from '../routes/gateway.js';
import { AnsweringTerminal } from '../support/answering-terminal.js';

const folder = mkdtempSync(path.join(tmpdir(), 'answers-'));
let gateway: Gateway;
beforeAll(async () => {
  const agents = path.join(folder, 'agents.json');
  const pty = { max_controllers: 2, default_cols: 80, default_rows: 24 };
  writeFileSync(agents, JSON.stringify({ agents: { free: { name: 'Free', command: ['/bin/bash'], allow_command_override: true, pty } } }));
  gateway = await startGateway({ AGENTS_FILE: agents });
});
afterAll(async () => {
  await gateway.close();
  rmSync(folder, { recursive: true, force: true });
});

const terminals: AnsweringTerminal[] = [];
afterEach(() => {
  for (const terminal of terminals.splice(0)) terminal.close();
});

/** On each line that is typed, `go` asks all, `rest` tells what came since, `place` asks where the cursor is, and keys are told as they come. */
const PROGRAM = `stty raw -echo
ask() { printf "$1"; IFS= read -rs -t 10 -d "$2" got; printf 'got:%q ' "$got$2"; }
rest() { got=; while IFS= read -rs -t 0.7 -n 1 -d '' char; do got+=$char; done; printf 'rest:%q.\\r\\n' "$got"; }
printf ready
while IFS= read -rs -d . order; do case $order in
  go) printf '\\e[H\\e[2J'; ask '\\e[c' c; ask '\\e[>c' c; ask '\\e[5n' n; ask '\\e[5;9H\\e[6n' R; ask '\\e[?2004$p' y; ask '\\eP$qr\\e\\\\' '\\'; rest;;
  rest) rest;;
  place) ask '\\e[1;7H\\e[6n' R; printf '\\e[9Hplaced ';;
esac; done`;

async function start() {
  const session = await gateway.session({ argv: ['/bin/bash', '--noprofile', '--norc', '-c', PROGRAM] });
  const lines = async (): Promise<string> => {
    const { json } = await gateway.call('GET', `/agents/free/sessions/${session.session_id}/screen`);
    return json.lines.join('');
  };
  const shows = (what: string | RegExp) => expect.poll(lines, { timeout: 15_000 }).toMatch(what);
  const open = (options: { role?: Role; isSlow?: boolean } = {}): AnsweringTerminal => {
    const terminal = new AnsweringTerminal({ url: session.pty_ws_url, token: gateway.token(), ...options });
    terminals.push(terminal);
    return terminal;
  };
  const attach = async (): Promise<AnsweringTerminal> => {
    const terminal = open();
    await terminal.controls();
    return terminal;
  };
  return { lines, shows, open, attach };
}

const ANSWERS = ['\\E[?62;22c', '\\E[>0;276;0c', '\\E[0n', '\\E[5;9R', '\\E[?2004;2$y', '\\EP1$r1;24r\\E\\\\'];
const gotIn = (text: string) => [...text.matchAll(/got:(?:\$')?(.*?)'? /g)].map(([, answer]) => answer);

describe('a program that asks', () => {
  it.each([1, 2])('gets the gateway’s answer alone, with %i terminals that answer as well', async (count) => {
    const { shows, lines, attach } = await start();
    await shows('ready');
    const all = await Promise.all(Array.from({ length: count }, attach));
    all[0]?.type('go.');
    await shows(/rest:''\./);
    expect(gotIn(await lines())).toEqual(ANSWERS);
    for (const terminal of all) await terminal.hasAnswered(/\$r1;24r/);
  });

  it('gets none for what is replayed to those who come, and to those who come back', async () => {
    const { shows, attach } = await start();
    await shows('ready');
    const first = await attach();
    first.type('go.');
    await shows(/rest:''\./);
    const late = await attach();
    await late.hasAnswered(/\$r1;24r/);
    late.type('rest.');
    await shows(/rest:''\..*rest:''\./);
  });

  it('gets none of who watched when it asked, and has control when the answers come', async () => {
    const { shows, open, attach } = await start();
    await shows('ready');
    const first = await attach();
    const watcher = open({ role: 'observer', isSlow: true });
    await watcher.is('observer');
    first.type('go.');
    await shows(/rest:''\./);
    await watcher.hasAnswered(/\$r1;24r/);
    await watcher.client.requestRole('controller');
    watcher.catchUp();
    watcher.type('rest.');
    await shows(/rest:''\..*rest:''\./);
  });

  it('gets Shift+F3 as it is typed, unless it says what was answered', async () => {
    const { shows, attach } = await start();
    await shows('ready');
    const terminal = await attach();
    terminal.type('place.');
    await shows(/placed/);
    await terminal.hasAnswered(/1;7R/);
    terminal.type('rest.');
    await shows(/rest:''\./);
    terminal.type('rest.');
    terminal.type('\x1b[1;2R');
    await shows(/rest:\$'\\E\[1;2R'\./);
  });
});
