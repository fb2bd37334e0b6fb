// Whether a command can be started, found out before there is a PTY, so that the refusal can be told in words. Knows no PTY.
import { constants } from 'node:fs';
import { access, open, stat } from 'node:fs/promises';
import { delimiter, resolve } from 'node:path';
import { type Command, TerminalError } from './terminal.js';

/** Bytes: the kernel takes no longer argument or variable (Linux MAX_ARG_STRLEN), and not more in all on any of our systems. */
const MAX_STRING_BYTES = 128 * 1024 - 1;
const MAX_TOTAL_BYTES = 1024 * 1024;
/** Bytes: the kernel looks no further for the interpreter of a script. */
const SHEBANG_BYTES = 256;
/** Where the C library looks when the child has no PATH. */
const DEFAULT_PATH = '/bin:/usr/bin';

/** Throws TerminalError `start` unless the program of `command` can be executed in its folder. */
export async function checkStartable(command: Command): Promise<void> {
  checkStrings(command);
  await checkFolder(command.cwd);
  const program = command.argv[0];
  if (!program) throw refusal('the command is empty');
  await checkInterpreter(program, await findProgram(program, command), command.cwd);
}

function checkStrings({ argv, env, cwd }: Command): void {
  const variables = Object.entries(env);
  const badName = variables.find(([name]) => name === '' || name.includes('='));
  if (badName) throw refusal(`${quote(badName[0])} cannot be the name of an environment variable`);
  const strings = [cwd, ...argv, ...variables.map(([name, value]) => `${name}=${value}`)];
  const withNul = strings.find((text) => text.includes('\0'));
  if (withNul !== undefined) throw refusal(`${quote(withNul)} contains a NUL character`);
  const lengths = strings.map((text) => Buffer.byteLength(text));
  if (lengths.some((length) => length > MAX_STRING_BYTES))
    throw refusal(`an argument or variable is longer than ${MAX_STRING_BYTES} bytes`);
  const total = lengths.reduce((sum, length) => sum + length, 0);
  if (total > MAX_TOTAL_BYTES) throw refusal(`arguments and environment are longer than ${MAX_TOTAL_BYTES} bytes`);
}

async function checkFolder(cwd: string): Promise<void> {
  const found = await stat(cwd).catch((error) => {
    throw refusal(`cannot start in ${quote(cwd)}: ${inWords(error)}`, error);
  });
  if (!found.isDirectory()) throw refusal(`cannot start in ${quote(cwd)}: it is not a folder`);
  await access(cwd, constants.X_OK).catch((error) => {
    throw refusal(`cannot start in ${quote(cwd)}: ${inWords(error)}`, error);
  });
}

/** The file that `execvp` will take. */
async function findProgram(program: string, { cwd, env }: Command): Promise<string> {
  const direct = program.includes('/');
  const path = env.PATH ?? DEFAULT_PATH;
  const folders = direct ? [''] : path.split(delimiter);
  let reason = direct ? 'there is no such file' : `it is in no folder of PATH (${path})`;
  for (const folder of folders) {
    const file = resolve(cwd, folder, program);
    const problem = await whyNotExecutable(file);
    if (problem === undefined) return file;
    if (problem !== 'absent') reason = problem;
  }
  throw refusal(`cannot execute ${quote(program)}: ${reason}`);
}

/** Undefined if it is executable. */
async function whyNotExecutable(path: string): Promise<string | undefined> {
  try {
    const found = await stat(path);
    if (found.isDirectory()) return `${path} is a folder`;
    if (!found.isFile()) return `${path} is not a file`;
    await access(path, constants.X_OK);
    return undefined;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return 'absent';
    return `${path}: ${inWords(error)}`;
  }
}

/** A script is no better than the interpreter that its first line names. */
async function checkInterpreter(program: string, path: string, cwd: string): Promise<void> {
  const interpreter = /^#![ \t]*([^\s\0]+)/.exec(await firstBytes(path))?.[1];
  if (interpreter === undefined) return;
  const problem = await whyNotExecutable(resolve(cwd, interpreter));
  if (problem === undefined) return;
  const reason = problem === 'absent' ? 'does not exist' : `cannot be executed (${problem})`;
  throw refusal(`cannot execute ${quote(program)}: its interpreter ${quote(interpreter)} ${reason}`);
}

/** Empty if the file may be executed and not read. */
async function firstBytes(path: string): Promise<string> {
  const file = await open(path).catch(() => undefined);
  if (!file) return '';
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(SHEBANG_BYTES), 0, SHEBANG_BYTES, 0);
    return buffer.toString('latin1', 0, bytesRead);
  } finally {
    await file.close();
  }
}

const words: Record<string, string> = {
  ENOENT: 'there is no such file or folder',
  ENOTDIR: 'a part of the path is not a folder',
  EACCES: 'permission denied',
  ELOOP: 'too many symbolic links',
  ENAMETOOLONG: 'the name is too long',
};

function inWords(error: unknown): string {
  const { code = 'unknown error' } = error as NodeJS.ErrnoException;
  return words[code] ?? code;
}

function quote(text: string): string {
  return JSON.stringify(text.length > 200 ? `${text.slice(0, 200)}…` : text);
}

function refusal(message: string, cause?: unknown): TerminalError {
  return new TerminalError('start', message, { cause });
}
