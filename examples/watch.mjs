// Watches an agent at work: what it prints, as text, and what its task is doing, on stderr: node watch.mjs PTY_WS_URL
// PTY_GATEWAY_TOKEN needs pty:observe. Types nothing, and sees it all from the first frame that is kept.
import { stripVTControlCharacters } from 'node:util';
import { connect } from 'pty-gateway/client';

const url = process.argv[2];
if (url === undefined) {
  console.error('usage: node watch.mjs PTY_WS_URL');
  process.exit(1);
}
const client = connect({ url, token: process.env.PTY_GATEWAY_TOKEN, role: 'observer', label: 'watch', replayFrom: 0 });
client.on('task', ({ task }) => console.error(`the task is ${task.status.state}`));
client.on('state', ({ name, message }) => console.error(message ?? name));

const frames = client.frames();
await client.live();
await client.tasks.subscribe();

const text = new TextDecoder();
for await (const frame of frames) {
  if (frame.kind === 'output') process.stdout.write(stripVTControlCharacters(text.decode(frame.bytes, { stream: true })));
  if (frame.kind === 'missed' && !frame.replayed) console.error(`frames ${frame.from} to ${frame.to} are not kept any more`);
}
