// A bot that answers a prompt: node answer.mjs PTY_WS_URL 'PATTERN' ANSWER, as in node answer.mjs "$URL" 'Continue\? \[y/N\] $' y
// PTY_GATEWAY_TOKEN needs pty:control. While somebody else has control it waits for its turn, and says so.
import { stripVTControlCharacters } from 'node:util';
import { connect } from 'pty-gateway/client';

const [url, pattern, answer] = process.argv.slice(2);
if (answer === undefined) {
  console.error("usage: node answer.mjs PTY_WS_URL 'PATTERN' ANSWER");
  process.exit(1);
}
const prompt = new RegExp(pattern);
const client = connect({ url, token: process.env.PTY_GATEWAY_TOKEN, role: 'controller', label: 'bot' });
client.on('members', ({ controllers }) => {
  if (controllers.length === 0) client.requestRole('controller').catch(({ message }) => console.error(message));
});
client.on('role', ({ role, reason }) => {
  if (role === 'observer') console.error(`only watching: ${reason ?? 'control was given to somebody else'}`);
  answerIfAsked();
});

/** The line that the program is at; a prompt has no end of line. */
const LONGEST_LINE = 4096;
const text = new TextDecoder();
let line = '';
for await (const frame of client.frames()) {
  if (frame.kind === 'keyframe') line = lastLine(text.decode(frame.snapshot));
  if (frame.kind === 'output') line = lastLine(line + text.decode(frame.bytes, { stream: true }));
  answerIfAsked();
}

function lastLine(printed) {
  return printed.slice(printed.lastIndexOf('\n') + 1).slice(-LONGEST_LINE);
}

/** Nothing is typed without control: `input` says so. */
function answerIfAsked() {
  const asked = stripVTControlCharacters(line).replaceAll('\r', '');
  if (!prompt.test(asked) || !client.input(`${answer}\r`)) return;
  console.log(`answered ${asked}`);
  line = '';
}
