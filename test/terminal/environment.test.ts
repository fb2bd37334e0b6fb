// The environment of a child: a safe base, and over it what was asked for.
import { expect, it } from 'vitest';
import { childEnvironment } from '../../src/terminal/environment.js';
import { run } from './real-pty.js';

it('has a safe base, over it the agent, over it the request', () => {
  const env = childEnvironment({ LANG: 'de_DE.UTF-8', PS1: '$ ' }, { PS1: '> ', A: '1' });
  expect(Object.keys(env).sort()).toEqual(['A', 'COLORTERM', 'HOME', 'LANG', 'PATH', 'PS1', 'TERM']);
  expect(env).toMatchObject({ LANG: 'de_DE.UTF-8', PS1: '> ', A: '1', TERM: 'xterm-256color', COLORTERM: 'truecolor' });
});

it('is all that a program gets, with PWD', async () => {
  process.env.PTY_TEST_SECRET = 'of the gateway';
  const env = { ...childEnvironment({ TERM: 'vt220' }), ODD: 'two words = 2' };
  const program = await run(['env'], { env, cwd: '/' });
  await program.exit;
  delete process.env.PTY_TEST_SECRET;
  const lines = program.text().trim().split('\r\n').sort();
  expect(lines).toEqual(
    Object.entries({ ...env, PWD: '/' })
      .map(([name, value]) => `${name}=${value}`)
      .sort(),
  );
});
