// A full-screen program like an agent's: an input line, a spinner while it works, answers above. An Enter that comes with a paste belongs to the paste.
const { stdin, stdout } = process;
const FRAMES = '⠋⠙⠹⠸⠼⠴⠦⠧';
const said = ['Welcome to the agent'];
let typed = '';
let busy = '';

const draw = () => {
  const lines = [...said, '', busy, '─'.repeat(stdout.columns), `> ${typed.replaceAll('\r', '⏎')}`].slice(-stdout.rows);
  stdout.write(`\x1b[H${lines.map((line) => `${line}\x1b[K`).join('\r\n')}\x1b[J`);
};

function answer(question) {
  said.push(`You: ${question.split('\r')[0]}`);
  let frame = 0;
  const spinner = setInterval(() => {
    busy = `${FRAMES[frame++ % FRAMES.length]} Working…`;
    draw();
  }, 120);
  setTimeout(() => {
    clearInterval(spinner);
    busy = '';
    said.push(...question.split('\r').map((line, i) => `${i + 1}: ${[...line].reverse().join('')}`));
    draw();
  }, 1500);
}

stdin.setRawMode(true);
stdin.setEncoding('utf8');
stdout.write('\x1b[?1049h\x1b[?2004h');
stdin.on('data', (text) => {
  if (text === '\r' && typed !== '') {
    answer(typed);
    typed = '';
  } else typed += text.replace('\x1b[200~', '').replace('\x1b[201~', '');
  draw();
});
stdout.on('resize', draw);
draw();
