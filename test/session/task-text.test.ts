// What of a screen is the answer: the lines of programs as they draw them, from what was seen of Codex, Gemini CLI and Claude Code.
import { describe, expect, it } from 'vitest';
import { answerIn, newLines, promptLines } from '../../src/session/task/text.js';

describe('What is new on the screen', () => {
  const rule = '─'.repeat(20);
  it.each([
    ['a sign before it', ['› what is it?', '', '', '• It is this.', '', '  Worked for 8s'], '• It is this.\n\n  Worked for 8s'],
    ['a box around it', ['▄'.repeat(20), ' > what is it?', '▀'.repeat(20), '✦ It is this.', '', '▀'.repeat(20)], '✦ It is this.'],
    ['borders beside it', [`╭${rule}╮`, '│ > what is it?      │', `╰${rule}╯`, 'This.'], 'This.'],
    ['nothing before it', ['what is it?', 'This.'], 'This.'],
  ])('is the answer without the message, which is drawn with %s', (_, drawn, answer) => {
    expect(newLines(['Welcome', ...drawn, rule, '> '], ['Welcome', rule, '> '], 'what is it?')).toBe(answer);
  });

  it('leaves out as many lines of the message as are shown, and no line of the answer that only ends in it', () => {
    expect(newLines(['> one', '  two', 'both'], [], 'one\ntwo')).toBe('both');
    expect(newLines(['You: one', 'both'], [], 'one\ntwo')).toBe('both');
    expect(newLines(['Certainly no', 'more'], [], 'no')).toBe('Certainly no\nmore');
    expect(newLines(['this'], [], '')).toBe('this');
  });
});

describe('What was printed', () => {
  const answered = (rest: string, home: string) => answerIn('', [rest], { message: undefined, prompts: { typedAt: home, home } });

  it('ends before the prompt, also where that tells another folder now', () => {
    expect(answered('me@host:/tmp$', 'me@host:~$')).toBe('');
    expect(answered('➜  docs git:(main) ➜', '➜  src ➜')).toBe('');
  });

  it('keeps what is no such prompt: a question, another program, a price behind which nothing stands', () => {
    for (const text of ['Enter age:', 'mysql>', '5$']) expect(answered(text, 'me@host:~$')).toBe(text);
    expect(answered('Enter age:', 'Enter name:')).toBe('Enter age:');
    expect(answered('1$', '$')).toBe('1$');
  });
});

it('a prompt is looked for at the cursor, and on the whole screen only where that is hidden', () => {
  const lines = ['$', '$ sleep 5', '', 'type here >', 'help'];
  const cursor = { row: 3, col: 12, visible: true };
  expect(promptLines({ lines, cursor, prompt: 'type here > ' })).toEqual(['type here >', 'type here >']);
  expect(promptLines({ lines, cursor: { ...cursor, visible: false }, prompt: '' })).toBe(lines);
});
