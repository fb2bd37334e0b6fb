import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { adapterOf } from '../../src/agents/adapter.js';
import { AgentsFileError, openAgentsFile } from '../../src/agents/agents-file.js';

const dir = mkdtempSync(path.join(tmpdir(), 'agents-'));
const write = (name: string, content: unknown) => {
  const file = path.join(dir, name);
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
};
const complaint = (content: unknown, name = 'bad.json'): string => {
  try {
    openAgentsFile(write(name, content));
  } catch (error) {
    expect(error).toBeInstanceOf(AgentsFileError);
    return (error as Error).message;
  }
  throw new Error('nothing was said');
};
const cat = { name: 'Cat', command: ['/bin/cat'] };

describe('the agents file', () => {
  it('may be left out: then there is a shell in the home folder', () => {
    const [shell, ...others] = openAgentsFile(undefined).list();
    expect(others).toEqual([]);
    expect(shell).toMatchObject({ id: 'shell', cwd: process.env.HOME, allow_command_override: false });
    expect(shell?.command).toEqual([process.env.SHELL || '/bin/bash', '-l']);
  });

  it('gives every default that it leaves out', () => {
    const agent = openAgentsFile(write('one.json', { agents: { 'inst-a': { ...cat, pty: { max_observers: 2 } } } })).get('inst-a');
    expect(agent).toEqual({
      ...cat,
      id: 'inst-a',
      description: 'A terminal.',
      version: '1.0.0',
      env: {},
      allow_command_override: false,
      skills: [],
      pty: {
        max_controllers: 1,
        max_observers: 2,
        keyframe_interval_seconds: 5,
        keyframe_interval_frames: 100,
        replay_buffer_frames: 1000,
        replay_buffer_retention_seconds: 86400,
        default_cols: 120,
        default_rows: 30,
      },
      policy: {
        terminate_on_last_controller: false,
        controller_return_seconds: 30,
        idle_timeout_seconds: null,
        max_session_seconds: null,
        max_sessions: 100,
        redaction: 'on',
        live_stream: 'redacted',
      },
    });
  });

  it('names an adapter by one word, or says how it differs from one', () => {
    const agents = openAgentsFile(
      write('adapters.json', {
        agents: { a: { ...cat, adapter: 'tui' }, b: { ...cat, adapter: { like: 'tui', done: { quiet_ms: 500 } } }, c: cat },
      }),
    );
    const adapters = ['a', 'b', 'c'].map((id) => adapterOf(agents.get(id)?.adapter));
    expect(adapters.map(({ quietMs, reply }) => [quietMs, reply])).toEqual([
      [2000, 'new'],
      [500, 'new'],
      [1000, 'output'],
    ]);
  });

  it('can hold every recipe of docs/agents.md', () => {
    const guide = readFileSync(new URL('../../docs/agents.md', import.meta.url), 'utf8');
    const [, recipes = ''] = /```yaml\n(.*?)```/s.exec(guide) ?? [];
    const agents = openAgentsFile(write('recipes.yaml', recipes)).list();
    expect(agents.map(({ id }) => id)).toEqual(expect.arrayContaining(['shell', 'python', 'claude', 'codex', 'gemini', 'aider']));
  });

  it('may be YAML', () => {
    const file = write('two.yaml', 'agents:\n  a: {name: A, command: [/bin/cat]}\n  b: {name: B, command: [/bin/sh, -l]}\n');
    expect(
      openAgentsFile(file)
        .list()
        .map(({ id, command }) => [id, command]),
    ).toEqual([
      ['a', ['/bin/cat']],
      ['b', ['/bin/sh', '-l']],
    ]);
  });

  it.each([
    ['no command', { agents: { x: { name: 'X' } } }, 'agents.x.command: expected an array of at least 1 items, got nothing'],
    [
      'a number for a command',
      { agents: { x: { ...cat, command: [1] } } },
      'agents.x.command.0: expected a string of at least 1 characters, got 1',
    ],
    ['an unknown field', { agents: { x: { ...cat, comand: [] } } }, 'agents.x.comand is unknown here'],
    [
      'a size beyond the limit',
      { agents: { x: { ...cat, pty: { default_cols: 2000 } } } },
      'agents.x.pty.default_cols: expected an integer from 1 to 1024, got 2000',
    ],
    [
      'a word that is no choice',
      { agents: { x: { ...cat, policy: { redaction: 'yes' } } } },
      'agents.x.policy.redaction: expected "on" or "off", got "yes"',
    ],
    ['an agent that is no object', { agents: { x: [] } }, 'agents.x: expected an object, got an array of 0'],
    ['an id with a slash', { agents: { 'a/b': cat } }, 'agent "a/b": expected an id of 1 to 64 characters of A-Z a-z 0-9 . _ -'],
    ['an id that is a folder', { agents: { '..': cat } }, 'agent "..": expected an id of 1 to 64 characters of A-Z a-z 0-9 . _ -'],
    [
      'a number beyond all use',
      { agents: { x: { ...cat, pty: { keyframe_interval_seconds: 1e12 } } } },
      'agents.x.pty.keyframe_interval_seconds: expected an integer from 1 to 86400, got 1000000000000',
    ],
    [
      'an age beyond all use',
      { agents: { x: { ...cat, policy: { max_session_seconds: 1e15 } } } },
      'agents.x.policy.max_session_seconds: expected an integer from 1 to 31536000 or null, got 1000000000000000',
    ],
    [
      'a name of the environment that is none',
      { agents: { x: { ...cat, env: { 'A=B': 'x' } } } },
      'agents.x.env: expected names without = and NUL, got "A=B"',
    ],
    ['a NUL', { agents: { x: { ...cat, env: { A: 'x\0y' } } } }, 'agents.x: command, cwd and env cannot hold NUL'],
    [
      'a pattern that is none',
      { agents: { x: { ...cat, policy: { redaction_patterns: ['a+', '(a'] } } } },
      'agents.x.policy.redaction_patterns.1: expected a pattern of RE2, got "(a": error parsing regexp: missing closing ): `(a`',
    ],
    [
      'an adapter that is none',
      { agents: { x: { ...cat, adapter: 'gui' } } },
      'agents.x.adapter.like: expected "shell" or "tui", got "gui"',
    ],
    [
      'a key that cannot submit',
      { agents: { x: { ...cat, adapter: { submit: 'f1' } } } },
      'agents.x.adapter.submit: expected one of "enter", "ctrl-enter", "shift-enter", "alt-enter", "ctrl-j", "ctrl-d", "none", got "f1"',
    ],
    [
      'a prompt that is no pattern',
      { agents: { x: { ...cat, adapter: { done: { prompt: '(>' } } } } },
      'agents.x.adapter.done.prompt: expected an RE2 pattern: error parsing regexp: missing closing ): `(>`',
    ],
    ['no agents', { agents: {} }, 'agents is empty; expected at least one agent'],
    ['another key', { agents: { x: cat }, extra: 1 }, 'extra is unknown here; expected agents alone'],
    ['a list', [], 'expected an object with the key agents'],
  ])('is refused with %s, naming the agent and the field', (_what, content, message) => {
    expect(complaint(content)).toBe(`${path.join(dir, 'bad.json')}: ${message}`);
  });

  it('does not show what stands where a secret might', () => {
    expect(complaint({ agents: { x: { ...cat, name: '' } } })).toContain(
      'agents.x.name: expected a string of at least 1 characters, got ""',
    );
  });

  it.each(['bad.json', 'bad.yaml'])('is refused in one line if it is no %s at all', (name) => {
    const message = complaint('{"agents": {', name);
    expect(message).toContain(`${name} cannot be read: `);
    expect(message).not.toContain('\n');
  });

  it.each([
    ['bad.json', '{"agents":{"a":{"name":"x","command":["sh"]},"\\u0061":{"name":"y","command":["sh"]}}}', 'Map keys must be unique'],
    ['bad.yaml', 'agents:\n  a: {name: x, command: [sh]}\n  a: {name: y, command: [sh]}\n', 'Map keys must be unique'],
    ['bad.json', '{"agents":{"__proto__":{"name":"x","command":["sh"]}}}', 'nothing can be named __proto__'],
    ['bad.yaml', 'agents: {a: {name: x, command: [sh], env: {"\\x5f_proto__": {}}}}', 'nothing can be named __proto__'],
    ['bad.yaml', 'agents: !foo\n  a: {name: x, command: [sh]}\n', 'Unresolved tag: !foo'],
    ['bad.yaml', 'agents: &all\n  a: {name: x, command: [sh], env: *all}\n', 'bad.yaml'],
  ])('is refused in one line if %s holds %s', (name, content, message) => {
    expect(complaint(content, name)).toContain(message);
    expect(complaint(content, name)).not.toContain('\n');
  });

  it('is refused if it is not there', () => {
    expect(() => openAgentsFile(path.join(dir, 'nothing'))).toThrow(AgentsFileError);
  });

  it('is read again on demand, and a bad one keeps the old agents', () => {
    const file = write('again.json', { agents: { a: cat } });
    const agents = openAgentsFile(file);
    write('again.json', { agents: { b: cat } });
    agents.reload();
    expect(agents.list().map(({ id }) => id)).toEqual(['b']);
    write('again.json', { agents: { c: {} } });
    expect(() => agents.reload()).toThrow('agents.c.name: expected a string of at least 1 characters, got nothing');
    expect(agents.list().map(({ id }) => id)).toEqual(['b']);
  });
});
