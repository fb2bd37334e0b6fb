// The history of a session over HTTP, as ndjson, lines of text and an asciicast.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, type Gateway, startGateway } from './gateway.js';

// biome-ignore lint/suspicious/noExplicitAny: a line may be anything; the test says what it expects.
type Told = any;

let gw: Gateway;
beforeAll(async () => {
  gw = await startGateway();
});
afterAll(() => gw.close());

const at = (session: Answer['json'], query = '') => `/agents/${session.instance_id}/sessions/${session.session_id}/transcript${query}`;
const read = async (session: Answer['json'], query = ''): Promise<Answer> =>
  gw.call('GET', at(session, query), { token: gw.token('pty:observe') });
const linesOf = (answer: Answer): Told[] =>
  answer.text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

/** A session that has ended by itself after printing this. */
async function printed(script: string, size = { cols: 80, rows: 24 }): Promise<Answer['json']> {
  const session = await gw.session({ argv: ['/bin/bash', '-c', script], label: 'a recording', ...size });
  const path = `/agents/${session.instance_id}/sessions/${session.session_id}`;
  await expect.poll(async () => (await gw.call('GET', path)).json.state, { timeout: 10_000 }).toBe('closed');
  return session;
}

describe('GET …/transcript', () => {
  it('tells each frame in a line of JSON, in order, but for Keyframes', async () => {
    const session = await printed('echo one; sleep 0.2; printf "\\033[1mtwo\\033[0m\\n"');
    const answer = await read(session);
    expect(answer.headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8');
    const lines = linesOf(answer);
    expect(
      lines
        .filter(({ kind }) => kind === 'Output')
        .map(({ text }) => text)
        .join(''),
    ).toBe('one\r\n\x1b[1mtwo\x1b[0m\r\n');
    expect(lines.find(({ kind }) => kind === 'Closed')).toMatchObject({ kind: 'Closed', exit_code: 0, reason: 'command_result' });
    expect(lines.some(({ kind }) => kind === 'Keyframe')).toBe(false);
    const numbers = lines.map(({ sequence }) => sequence);
    expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
    expect(lines.every(({ ts }) => new Date(ts).toISOString() === ts)).toBe(true);
  });

  it('is cut at numbers and times, and at a number of lines', async () => {
    const session = await printed('for i in 1 2 3 4 5; do echo $i; sleep 0.1; done');
    const all = linesOf(await read(session)).filter(({ kind }) => kind === 'Output');
    const [second, fourth] = [all[1], all[3]];
    const outputs = async (query: string) => linesOf(await read(session, query)).filter(({ kind }) => kind === 'Output');
    expect(await outputs(`?from=${second.sequence}&to=${fourth.sequence}`)).toEqual(all.slice(1, 4));
    expect(await outputs(`?from=${second.ts}&to=${fourth.ts}`)).toEqual(all.slice(1, 4));
    expect((await read(session, '?format=text&limit=2')).text).toBe('1\n2\n');
    expect((await read(session, '?from=1000000')).text).toBe('');
  });

  it('finds text that was printed in pieces and in colours, and says which frame began its line', async () => {
    const session = await printed('echo nothing; printf "the nee"; sleep 0.2; printf "\\033[31mdle\\033[0m is here\\n"; echo nothing');
    const outputs = linesOf(await read(session)).filter(({ kind }) => kind === 'Output');
    const begins = outputs.find(({ text }) => text.includes('nee'));
    const [found, ...more] = linesOf(await read(session, '?q=Needle'));
    expect(more).toEqual([]);
    expect(found).toEqual({
      sequence: begins.sequence,
      ts: begins.ts,
      kind: 'Line',
      text: 'the needle is here',
      whole_ts: expect.any(String),
    });
    expect((await read(session, '?q=needle&format=text')).text).toBe('the needle is here\n');
    expect((await read(session, '?q=haystack')).text).toBe('');
  });

  it('has the frames as they are on the wire, and an index of them', async () => {
    const session = await printed('echo one; sleep 0.1; echo two', { cols: 70, rows: 10 });
    const all = linesOf(await read(session, '?format=frames'));
    const output = all.filter(({ kind }) => kind === 'Output').map(({ data }) => Buffer.from(data, 'base64').toString());
    expect(output.join('')).toBe('one\r\ntwo\r\n');
    const last = all.at(-1);
    expect(linesOf(await read(session, `?format=frames&from=${last.sequence}`))).toEqual([last]);
    const [begin, ...rest] = linesOf(await read(session, '?format=index'));
    expect(begin).toEqual({ sequence: all[0].sequence, ts: all[0].ts, kind: 'Begin', cols: 70, rows: 10 });
    expect(rest.slice(-2)).toEqual([last, { sequence: last.sequence, ts: last.ts, kind: 'End' }]);
    expect(last).toMatchObject({ kind: 'Closed', reason: 'command_result' });
  });

  it('is an asciicast with its size, what was printed and when, changes of size, and marks', async () => {
    const session = await printed('echo one; sleep 0.3; echo two', { cols: 90, rows: 20 });
    const answer = await read(session, '?format=asciicast');
    const [header, ...events] = linesOf(answer);
    expect(header).toEqual({
      version: 2,
      width: 90,
      height: 20,
      timestamp: expect.any(Number),
      title: 'a recording',
      env: { TERM: 'xterm-256color' },
    });
    expect(
      events
        .filter(([, code]) => code === 'o')
        .map(([, , data]) => data)
        .join(''),
    ).toBe('one\r\ntwo\r\n');
    expect(events.at(-1)).toEqual([expect.any(Number), 'm', 'ended: command_result']);
    const times = events.map(([time]) => time);
    expect(times).toEqual([...times].sort((a, b) => a - b));
    expect(times.at(-1)).toBeGreaterThan(0);
  });

  it('is an asciicast that begins in the middle with what the screen showed there', async () => {
    const session = await printed('echo one; sleep 0.2; echo two; sleep 0.2; echo three');
    const outputs = linesOf(await read(session)).filter(({ kind }) => kind === 'Output');
    const last = outputs.find(({ text }) => text.includes('three'));
    const [, shown, ...rest] = linesOf(await read(session, `?format=asciicast&from=${last.sequence}`));
    expect(shown).toEqual([0, 'o', 'one\r\ntwo\r\n']);
    expect(rest[0]).toEqual([0, 'o', 'three\r\n']);
  });

  it('is whole for a session of many megabytes, piece by piece', async () => {
    const session = await printed('seq 1 300000');
    const { text } = await read(session, '?format=text');
    const numbers = text.trimEnd().split('\n').map(Number);
    expect(numbers).toEqual(Array.from({ length: 300_000 }, (_, i) => i + 1));
  });

  it.each([
    ['?format=pdf', 'query.format: expected ndjson, text, asciicast, frames or index'],
    ['?from=yesterday', 'query.from: expected the number of a frame, or a time as 2026-01-31T12:00:00Z'],
    ['?to=-1', 'query.to: expected the number of a frame, or a time as 2026-01-31T12:00:00Z'],
    ['?format=asciicast&q=x', 'query.q: the format asciicast cannot be searched; expected ndjson or text with it'],
    ['?format=index&q=x', 'query.q: the format index cannot be searched; expected ndjson or text with it'],
  ])('refuses %s by name', async (query, message) => {
    const session = await printed('true');
    const answer = await read(session, query);
    expect([answer.status, answer.json.error]).toEqual([400, { code: 'INVALID_REQUEST', message }]);
  });

  it('leaves a line in the audit that does not tell what was searched for', async () => {
    const session = await printed('echo needle');
    await read(session, '?q=needle');
    await expect
      .poll(() => gw.audit())
      .toContainEqual(
        expect.objectContaining({ event: 'transcript_read', outcome: 'granted', session_id: session.session_id, detail: 'ndjson' }),
      );
    expect(JSON.stringify(gw.audit())).not.toContain('needle');
    const stranger = await gw.call('GET', at(session), { token: gw.token('pty:observe', { instances: ['other'] }) });
    expect(stranger.status).toBe(403);
  });
});
