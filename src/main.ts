#!/usr/bin/env node
// The command `pty-gateway`: finds the subcommand, and loads that alone. Knows none of them.
import { Command } from 'commander';
import { version } from './version.js';

const commands: Record<string, (program: Command) => Promise<void>> = {
  serve: async (program) => (await import('./cli/serve.js')).serve(program),
  token: async (program) => (await import('./cli/token.js')).token(program),
  attach: async (program) => (await import('./cli/attach.js')).attach(program),
  sessions: async (program) => (await import('./cli/sessions.js')).sessions(program),
  play: async (program) => (await import('./cli/play.js')).play(program),
  replicas: async (program) => (await import('./cli/replicas.js')).replicas(program),
  drain: async (program) => (await import('./cli/replicas.js')).drain(program),
  'log-level': async (program) => (await import('./cli/replicas.js')).logLevel(program),
  doctor: async (program) => (await import('./cli/doctor.js')).doctor(program),
  audit: async (program) => (await import('./cli/audit.js')).audit(program),
};

const program = new Command('pty-gateway').description('Share live terminals between people and agents.').showHelpAfterError();
program.version(version(), '-V, --version', 'the version of this command');
const wanted = commands[process.argv[2] ?? ''];
// Help tells of all of them.
for (const register of wanted ? [wanted] : Object.values(commands)) await register(program);
await program.parseAsync();
