// An agent runs a command in a shell over A2A, while a person watches the same terminal: node run-the-tests.mjs [URL of the agent] [command]
// PTY_GATEWAY_TOKEN needs pty:control. Knows no address but the agent's: the others stand in its card.
import { randomUUID } from 'node:crypto';
import { connect } from 'pty-gateway/client';

process.on('uncaughtException', ({ message, cause }) => {
  console.error(cause?.message || cause?.code || message);
  process.exit(1);
});

const [agent = 'http://127.0.0.1:8080/agents/shell', command = 'npm test'] = process.argv.slice(2);
const token = process.env.PTY_GATEWAY_TOKEN;

// 1. The card says what the agent is, and where it is spoken to: over HTTP about its tasks, over a WebSocket at their terminals.
const card = await (await ask('GET', `${agent}/.well-known/agent-card.json`)).json();
const tasks = addressOf('HTTP+JSON');
const terminals = addressOf('https://agentic-sandbox.aiwg.io/bindings/pty-ws/v1');
console.log(`${card.name}: ${card.description}`);

// 2. The command is a message: a task begins, and what the program prints comes as it is printed, until the shell waits again.
const message = { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ text: command }] };
const answer = await ask('POST', `${tasks}/message:stream`, { message });
let task;
let person;
for await (const event of eventsOf(answer)) {
  task = event.task ?? { ...task, ...(event.statusUpdate && { status: event.statusUpdate.status }) };
  // 3. A task is a terminal: a person who attaches to it sees it all, from the first frame.
  person ??= watch(task.id);
  if (event.artifactUpdate) process.stdout.write(printedIn(event.artifactUpdate.artifact));
}
console.log(`\n${toldBy(task)}`);

// 4. The agent has no more use for the shell, unless the command has ended it. The person sees it end.
if (task.status.state === 'TASK_STATE_INPUT_REQUIRED')
  console.log(toldBy(await (await ask('POST', `${tasks}/tasks/${task.id}:cancel`)).json()));
console.log(`The person saw ${await person}.`);

function addressOf(binding) {
  return card.supportedInterfaces.find(({ protocolBinding }) => protocolBinding === binding).url;
}

async function ask(method, url, body) {
  const headers = { authorization: `Bearer ${token}`, 'a2a-version': '1.0', 'content-type': 'application/json' };
  const response = await fetch(url, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  if (response.ok) return response;
  throw new Error(`${method} ${url}: ${(await response.json()).error.message}`);
}

/** A task says in a message what it waits at, or how it ended. */
function toldBy({ status }) {
  return [`The task is ${status.state}`, ...(status.message?.parts.map(({ text }) => text) ?? [])].join(': ');
}

/** The events of an SSE answer, each in one `data` line; other lines keep the connection alive. */
async function* eventsOf({ body }) {
  let rest = '';
  for await (const piece of body.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + piece).split('\n');
    rest = lines.pop();
    for (const line of lines) if (line.startsWith('data:')) yield JSON.parse(line.slice(5));
  }
}

/** The artifact `output` is what the program prints, told as it grows; `screen` is what the terminal shows in the end. */
function printedIn({ name, parts }) {
  return name === 'output' ? parts.map(({ text }) => text).join('') : '';
}

/** Attaches a person's terminal, which only counts here; resolves when the session is over. */
async function watch(sessionId) {
  const client = connect({ url: terminals.replace('{session_id}', sessionId), token, role: 'observer', label: 'a person', replayFrom: 0 });
  let bytes = 0;
  client.on('output', (output) => {
    bytes += output.length;
  });
  const { message } = await client.ended;
  return `${bytes} bytes; then: ${message}`;
}
