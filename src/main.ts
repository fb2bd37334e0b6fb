#!/usr/bin/env node
// The command `pty-gateway`: finds the subcommand, and loads that alone. Knows none of them.
import { Command } from 'commander';
import { withFailures } from './cli/failure.js';
import { version } from './version.js';

const commands: Record<string, (program: Command) => Promise<void>> = {
  serve: async (program) => (await import('./cli/serve.js')).serve(program),
  token: async (program) => (await import('./cli/token.js')).token(program),
  new: async (program) => (await import('./cli/new.js')).newSession(program),
  attach: async (program) => (await import('./cli/attach.js')).attach(program),
  sessions: async (program) => (await import('./cli/sessions.js')).sessions(program),
  send: async (program) => (await import('./cli/send.js')).send(program),
  'wait-for': async (program) => (await import('./cli/wait-for.js')).waitFor(program),
  screen: async (program) => (await import('./cli/screen.js')).screen(program),
  share: async (program) => (await import('./cli/share.js')).share(program),
  end: async (program) => (await import('./cli/end.js')).end(program),
  play: async (program) => (await import('./cli/play.js')).play(program),
  replicas: async (program) => (await import('./cli/replicas.js')).replicas(program),
  drain: async (program) => (await import('./cli/replicas.js')).drain(program),
  'log-level': async (program) => (await import('./cli/replicas.js')).logLevel(program),
  doctor: async (program) => (await import('./cli/doctor.js')).doctor(program),
  complete: async (program) => (await import('./cli/complete.js')).complete(program),
  audit: async (program) => (await import('./cli/audit.js')).audit(program),
};

const program = withFailures(new Command('pty-gateway').description('Share live terminals between people and agents.'));
program.version(version(), '-V, --version', 'the version of this command');
const wanted = commands[process.argv[2] ?? ''];
// Help tells of all of them.
for (const register of wanted ? [wanted] : Object.values(commands)) await register(program);
if (!wanted) (await import('./cli/completion.js')).completion(program);
await program.parseAsync();
