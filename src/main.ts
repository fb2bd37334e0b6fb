#!/usr/bin/env node
// The command `pty-gateway`: finds the subcommand, and loads that alone. Knows none of them.
import { Command } from 'commander';

const commands: Record<string, (program: Command) => Promise<void>> = {
  serve: async (program) => (await import('./cli/serve.js')).serve(program),
  token: async (program) => (await import('./cli/token.js')).token(program),
  attach: async (program) => (await import('./cli/attach.js')).attach(program),
  sessions: async (program) => (await import('./cli/sessions.js')).sessions(program),
};

const program = new Command('pty-gateway').description('Share live terminals between people and agents.').showHelpAfterError();
const wanted = commands[process.argv[2] ?? ''];
// Help tells of all of them.
for (const register of wanted ? [wanted] : Object.values(commands)) await register(program);
await program.parseAsync();
