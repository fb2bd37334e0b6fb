// Agents with a screen of their own, and those whose prompt a pattern knows.
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { AdapterConfig } from '../../src/agents/adapter.js';
import { agent, type House, openHouse } from '../support/house.js';
import { artifact, Conversation } from './conversation.js';

const tui = fileURLToPath(new URL('../support/tui.mjs', import.meta.url));

let house: House;
beforeAll(async () => {
  house = await openHouse();
});
afterAll(() => house.close());

async function ready(adapter: AdapterConfig, command: string[]): Promise<Conversation> {
  const session = await house.sessions.create(agent({ adapter, command, env: { PS1: '$ ' } }), { cols: 80, rows: 20 }, 'someone');
  onTestFinished(() => session.end('killed').catch(() => {}));
  await session.task.rest();
  return new Conversation(session);
}

describe('A program with a screen of its own', () => {
  it('is pasted to, submitted to apart from it, and has answered when its screen is still: what is new on it is the answer', async () => {
    const program = await ready({ like: 'tui' }, [process.execPath, tui]);
    const first = await program.ask('abc\ndef');
    expect(artifact(first, 'output')).toBe('1: cba\n2: fed');
    expect(artifact(first, 'screen')).toMatch(/^Welcome to the agent\nYou: abc\n1: cba\n2: fed\n\n\n─+\n>$/);
    expect(artifact(await program.ask('abc\ndef'), 'output')).toBe('1: cba\n2: fed');
    expect(program.states).toEqual(['WORKING', 'INPUT_REQUIRED', 'WORKING', 'INPUT_REQUIRED']);
    expect(program.updates('output').map(({ append, lastChunk }) => [append, lastChunk])).toEqual(Array(2).fill([false, true]));
  });

  it('has not answered while its prompt is not there, however still it is', async () => {
    const script =
      'const say = (text) => process.stdout.write(text); say("go> "); process.stdin.on("data", () => (say("thinking\\n"), setTimeout(say, 2000, "done\\ngo> ")))';
    const adapter: AdapterConfig = { done: { quiet_ms: 400, prompt: '^go>$' }, reply: 'screen' };
    const program = await ready(adapter, [process.execPath, '-e', script]);
    expect(artifact(await program.ask('it'), 'output')).toBe('go> it\nthinking\ndone\ngo>');
  });
});
