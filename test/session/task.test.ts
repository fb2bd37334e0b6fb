// The task that a session is, on real programs.
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { Session } from '../../src/session/session.js';
import { agent, type House, openHouse, Watcher } from '../support/house.js';
import { needs } from '../support/needs.js';
import { artifact, Conversation } from './conversation.js';

let house: House;
beforeAll(async () => {
  house = await openHouse();
});
afterAll(() => house.close());

async function begin(settings?: Parameters<typeof agent>[0]): Promise<Conversation> {
  const session: Session = await house.sessions.create(agent(settings), {}, 'someone');
  onTestFinished(() => session.end('killed').catch(() => {}));
  return new Conversation(session);
}

/** At its first prompt. */
async function ready(settings?: Parameters<typeof agent>[0]): Promise<Conversation> {
  const conversation = await begin(settings);
  await conversation.session.task.rest();
  return conversation;
}

describe('A task', () => {
  it('rests when the program comes to its first prompt, without a message, and without a word in the log', async () => {
    const shell = await begin();
    const task = await shell.session.task.rest();
    expect(task.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    expect(task.artifacts).toBeUndefined();
    expect(shell.states).toEqual([]);
  });

  it('works while a silent program runs, and rests at the next prompt, with what was printed', async () => {
    const shell = await ready();
    const task = await shell.ask('sleep 2; echo done-$((1))');
    expect(task.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    expect(artifact(task, 'output')).toBe('done-1\n');
    expect(artifact(task, 'screen')).toBe('$ sleep 2; echo done-$((1))\ndone-1\n$');
    expect(shell.states).toEqual(['WORKING', 'INPUT_REQUIRED']);
  });

  it('types the first message when the program has come to its first prompt', async () => {
    const shell = await begin({ command: ['/bin/bash', '-c', "sleep 1; export PS1='$ '; exec /bin/bash --noprofile --norc"] });
    const task = await shell.ask('echo early');
    expect(artifact(task, 'output')).toBe('early\n');
    expect(artifact(task, 'screen')).toBe('$ echo early\nearly\n$');
    expect(shell.states).toEqual(['WORKING', 'INPUT_REQUIRED']);
  });

  it('rests when the program asks something, which then is the end of its output', async () => {
    const shell = await ready();
    const question = await shell.ask('read -p "really? " answer; echo got-$answer');
    expect(artifact(question, 'output')).toBe('really?');
    expect(question.status.message).toMatchObject({ role: 'ROLE_AGENT', taskId: question.id, parts: [{ text: 'really?' }] });
    expect(artifact(await shell.ask('yes'), 'output')).toBe('got-yes\n');
  });

  it('leaves the prompt that its program comes back to out of its output, behind a question and behind a line without an end', async () => {
    const shell = await ready({ env: { PS1: 'sh> ' } });
    expect(artifact(await shell.ask('printf 1-no-end'), 'output')).toBe('1-no-end');
    await shell.ask('read -s -p "Password:" word; echo; echo got-$word; read -p "Again, Password:"');
    expect(artifact(await shell.ask('secret'), 'output')).toBe('got-secret\nAgain, Password:');
    expect(artifact(await shell.ask('no'), 'output')).toBeUndefined();
    expect(artifact(await shell.ask(''), 'output')).toBeUndefined();
  });

  it('leaves out the prompt also where it tells another folder than before', async () => {
    const shell = await ready({ env: { PS1: 'me@host:\\w$ ' } });
    expect(artifact(await shell.ask('cd /tmp'), 'output')).toBeUndefined();
    expect(artifact(await shell.ask('cd /; echo there'), 'output')).toBe('there\n');
    expect(artifact(await shell.ask('read -p "me too? " x'), 'output')).toBe('me too?');
  });

  it.each([
    ['a word', 'abc'],
    ['text that ends before the last column', 'x'.repeat(117)],
    ['text that leaves no room for the prompt', 'x'.repeat(119)],
    ['a full line', 'x'.repeat(120)],
    ['more than a line', 'x'.repeat(125)],
    ['wide characters', '日'.repeat(10)],
    ['combining characters', 'e\u0301'.repeat(10)],
  ])('leaves the echo out of its output where the prompt stands behind %s, which the shell does not know of', async (_, text) => {
    const shell = await ready();
    await shell.ask('true');
    await shell.ask(`printf %s ${text}`);
    expect(artifact(await shell.ask('echo hi'), 'output')).toBe('hi\n');
    await shell.ask(`printf %s ${text}`);
    expect(artifact(await shell.ask('echo one\necho two'), 'output')).toBe('one\ntwo\n');
  });

  it('tells its output while it is printed, as a text that grows, before the state in which it rests', async () => {
    const shell = await ready();
    const task = await shell.ask('for i in 1 2 3 4; do echo line-$i; sleep 0.4; done');
    const updates = shell.updates('output');
    expect(updates.length).toBeGreaterThan(2);
    expect(updates.map(({ append }) => append)).toEqual([false, ...updates.slice(1).map(() => true)]);
    expect(updates.map(({ lastChunk }) => lastChunk)).toEqual([...updates.slice(1).map(() => false), true]);
    expect([shell.told('output'), artifact(task, 'output')]).toEqual(Array(2).fill('line-1\nline-2\nline-3\nline-4\n'));
    expect(shell.deltas.at(-1)).toHaveProperty('status.state', 'TASK_STATE_INPUT_REQUIRED');
  });

  it('has all lines of an output that scrolls away, each once', async () => {
    const shell = await ready();
    const task = await shell.ask('seq 1 20000');
    const lines = Array.from({ length: 20_000 }, (_, i) => `${i + 1}\n`).join('');
    expect(artifact(task, 'output')).toBe(lines);
    expect(shell.told('output')).toBe(lines);
  });

  it('keeps the newest of an output that is too long, and says how much is missing', async () => {
    const shell = await ready();
    const task = await shell.ask('seq 1000000 1250000');
    const output = artifact(task, 'output') as string;
    expect(output.length).toBe(1024 * 1024);
    expect(output.endsWith('1249999\n1250000\n')).toBe(true);
    expect(task.artifacts?.[0]?.metadata).toEqual({ messageId: 'm-1', cut: 'seq 1000000 1250000\n'.length + 8 * 250_001 - output.length });
    expect(shell.told('output')).toBe(output);
  });

  it('ends with its program: the output is told before the end', async () => {
    const shell = await ready();
    await shell.send('printf last; exit 3');
    await shell.until(({ states }) => states.includes('FAILED'));
    const task = await shell.session.task.snapshot();
    expect([artifact(task, 'output'), shell.told('output')]).toEqual(['exit\nlast', 'exit\nlast'].map(() => expect.stringMatching(/last/)));
    expect(shell.deltas.at(-1)).toHaveProperty('status.state', 'TASK_STATE_FAILED');
    expect(shell.updates('output').at(-1)?.lastChunk).toBe(true);
  });

  it.each([
    ['exit 0', 'COMPLETED', 'The program exited with status 0.', { reason: 'command_result', exit_code: 0 }],
    ['exit 3', 'FAILED', 'The program exited with status 3.', { reason: 'command_result', exit_code: 3 }],
    ['kill -KILL $$', 'FAILED', 'The program was ended by SIGKILL.', { reason: 'killed', signal: 'SIGKILL' }],
  ])('says in its last status how its program ended: %s', async (command, state, text, metadata) => {
    const shell = await ready();
    await shell.send(command);
    await shell.until(({ states }) => states.includes(state));
    const { id, contextId, status } = await shell.session.task.snapshot();
    expect(shell.deltas.at(-1)).toMatchObject({ status });
    expect(status.message).toEqual({
      messageId: expect.any(String),
      role: 'ROLE_AGENT',
      taskId: id,
      contextId,
      parts: [{ text }],
      metadata,
    });
  });

  it('says so where somebody ended it, too', async () => {
    const [one, other] = [await ready(), await ready()];
    expect((await one.session.task.cancel()).status.message).toMatchObject({
      parts: [{ text: 'The task was canceled.' }],
      metadata: { reason: 'killed' },
    });
    await other.session.end('timeout');
    await other.until(({ states }) => states.includes('FAILED'));
    expect((await other.session.task.snapshot()).status.message?.metadata).toMatchObject({ reason: 'timeout' });
  });

  it('works again, and rests again, when somebody types by hand; what comes of it belongs to no message', async () => {
    const shell = await ready();
    const answer = artifact(await shell.ask('echo mine'), 'output');
    const person = await Watcher.join(shell.session);
    await person.type('sleep 1; echo theirs\r');
    await shell.until(({ states }) => states.length === 4);
    expect(shell.states).toEqual(['WORKING', 'INPUT_REQUIRED', 'WORKING', 'INPUT_REQUIRED']);
    expect([answer, artifact(await shell.session.task.snapshot(), 'output')]).toEqual(['mine\n', 'mine\n']);
  });

  it('types a message once, however often it is sent, and again only if it could not be typed', async () => {
    const shell = await ready();
    const person = await Watcher.join(shell.session);
    await expect(shell.send('echo no', { messageId: 'same' })).rejects.toMatchObject({ code: 'PERMISSION_DENIED' });
    await shell.session.moveControl(null);
    await Promise.all([shell.send('echo twi$()ce', { messageId: 'same' }), shell.send('echo twi$()ce', { messageId: 'same' })]);
    await shell.session.task.rest();
    expect(person.output().match(/twice/g)).toHaveLength(1);
    expect((await shell.session.task.snapshot()).history).toHaveLength(1);
  });

  it('takes several lines as one paste where the program takes such', async () => {
    const shell = await ready();
    const task = await shell.ask('for i in a b\ndo echo "<$i>"\ndone');
    expect(artifact(task, 'output')).toBe('<a>\n<b>\n');
  });

  it('has the screen of a full-screen program for its output while that is shown', async () => {
    const shell = await ready();
    const task = await shell.ask('less /etc/passwd');
    expect(artifact(task, 'output')).toBe(artifact(task, 'screen'));
    expect(artifact(task, 'output')).toMatch(/^root:/m);
  });
});

needs('python3')('A task of the Python prompt', () => {
  it('has answers without echo and prompt, of one line and of several', async () => {
    const python = await ready({ command: ['/usr/bin/env', 'python3', '-q'], env: { PYTHONSTARTUP: '' } });
    expect(artifact(await python.ask('1 + 1'), 'output')).toBe('2\n');
    expect(artifact(await python.ask('for i in range(2):\n  print(i)\n'), 'output')).toBe('0\n1\n');
    expect(artifact(await python.ask('import time; time.sleep(1.5); print("slept")'), 'output')).toBe('slept\n');
  });
});
