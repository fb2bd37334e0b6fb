// Reads the agents file (JSON or YAML) into checked agents with all defaults applied. Knows no session and no signal.
import { homedir } from 'node:os';
import { Value } from '@sinclair/typebox/value';
import { checker, shown } from '../protocol/check.js';
import { compilePattern } from '../redaction/line-patterns.js';
import { readSettings } from '../settings-file.js';
import { adapterOf } from './adapter.js';
import { type Agent, AgentConfig, type Agents } from './agents.js';

/** An agents file that cannot be used; the message is one line that names the agent and the field. */
export class AgentsFileError extends Error {
  override readonly name = 'AgentsFileError';
}

export interface AgentsFile extends Agents {
  /** Reads the file again. Throws AgentsFileError, and then keeps the agents as they were. */
  reload(): void;
}

const check = checker(AgentConfig, 'agents');

/** `file` undefined: the built-in `shell`. Throws AgentsFileError. */
export function openAgentsFile(file: string | undefined): AgentsFile {
  const load = () => (file === undefined ? new Map([['shell', builtInShell()]]) : readAgents(file));
  let agents = load();
  return {
    get: (id) => agents.get(id),
    list: () => [...agents.values()],
    reload: () => {
      agents = load();
    },
  };
}

/** The person's own login shell in their home folder. */
function builtInShell(): Agent {
  const command = [process.env.SHELL || '/bin/bash', '-l'];
  return agent('shell', { name: 'Shell', description: 'A login shell on this machine.', command, cwd: homedir() }, 'the built-in agent');
}

function readAgents(file: string): Map<string, Agent> {
  const agents = section(file);
  const entries = Object.entries(agents).map(([id, config]) => [id, agent(id, config, file)] as const);
  if (entries.length === 0) throw new AgentsFileError(`${file}: agents is empty; expected at least one agent`);
  return new Map(entries);
}

function section(file: string): Record<string, unknown> {
  const content = parsed(file);
  if (!isObject(content)) throw new AgentsFileError(`${file}: expected an object with the key agents`);
  const stray = Object.keys(content).find((key) => key !== 'agents');
  if (stray !== undefined) throw new AgentsFileError(`${file}: ${stray} is unknown here; expected agents alone`);
  if (!isObject(content.agents)) throw new AgentsFileError(`${file}: agents: expected an object of agents, got ${shown(content.agents)}`);
  return content.agents;
}

function parsed(file: string): unknown {
  try {
    return readSettings(file);
  } catch (error) {
    throw new AgentsFileError((error as Error).message, { cause: error });
  }
}

function agent(id: string, config: unknown, file: string): Agent {
  if (!/^[A-Za-z0-9._-]{1,64}$/.test(id) || /^\.+$/.test(id)) {
    throw new AgentsFileError(`${file}: agent ${shown(id)}: expected an id of 1 to 64 characters of A-Z a-z 0-9 . _ -`);
  }
  const whole = isObject(config) ? Value.Default(AgentConfig, expanded(config)) : config;
  const fault = check(whole, `agents.${id}`) ?? unusable(whole as AgentConfig, `agents.${id}`);
  if (fault) throw new AgentsFileError(`${file}: ${fault}`);
  return { ...(whole as AgentConfig), id };
}

/** What is left out, or said by one word, as the schema has it. */
function expanded(config: Record<string, unknown>): Record<string, unknown> {
  const { pty = {}, policy = {}, adapter } = config;
  return { ...config, pty, policy, ...(typeof adapter === 'string' && { adapter: { like: adapter } }) };
}

/** What no schema says: what the system can hand to a program, and what is no pattern. */
function unusable({ command, cwd = '', env, policy, adapter }: AgentConfig, where: string): string | undefined {
  const misnamed = Object.keys(env).find((name) => name === '' || /[=\0]/.test(name));
  if (misnamed !== undefined) return `${where}.env: expected names without = and NUL, got ${shown(misnamed)}`;
  if ([...command, cwd, ...Object.values(env)].some((text) => text.includes('\0'))) return `${where}: command, cwd and env cannot hold NUL`;
  return (
    unusablePattern(policy.redaction_patterns ?? [], `${where}.policy.redaction_patterns`) ?? unusableAdapter(adapter, `${where}.adapter`)
  );
}

function unusablePattern(patterns: readonly string[], where: string): string | undefined {
  for (const [i, pattern] of patterns.entries()) {
    try {
      compilePattern(pattern);
    } catch (error) {
      return `${where}.${i}: expected a pattern of RE2, got ${shown(pattern)}: ${(error as Error).message}`;
    }
  }
  return undefined;
}

function unusableAdapter(adapter: AgentConfig['adapter'], where: string): string | undefined {
  try {
    adapterOf(adapter);
    return undefined;
  } catch (error) {
    return `${where}.${(error as Error).message}`;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
