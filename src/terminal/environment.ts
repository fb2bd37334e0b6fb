// The environment of a program in a terminal. Knows nothing of the gateway's own, but for where home is.
import { homedir } from 'node:os';

/** What every program may count on (contract, Agents file). */
function safeBase(): Record<string, string> {
  return {
    PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    HOME: homedir(),
    LANG: 'C.UTF-8',
    TERM: 'xterm-256color',
    COLORTERM: 'truecolor',
  };
}

/** The child's whole environment: the safe base, over it the agent's `env`, over it what the request asks for. */
export function childEnvironment(agentEnv: Readonly<Record<string, string>>, requestEnv: Readonly<Record<string, string>> = {}) {
  return { ...safeBase(), ...agentEnv, ...requestEnv };
}
