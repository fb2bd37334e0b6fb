// How wide a character is: the screen of the server and that of the page have one table.
import { Terminal } from '@xterm/xterm';
import { expect, it } from 'vitest';
import { reference } from '../support/look.js';

interface Widths {
  readonly unicode: { readonly activeVersion: string };
  readonly _core: { readonly unicodeService: { wcwidth(code: number): number } };
}

const LAST = 0x10_ffff;

it('Every character is as wide on the page as on the server: as in Unicode 6', () => {
  const page = new Terminal({ allowProposedApi: true }) as unknown as Widths;
  const server = reference(80, 24) as unknown as Widths;
  expect([page.unicode.activeVersion, server.unicode.activeVersion]).toEqual(['6', '6']);
  const differing: number[] = [];
  for (let code = 0; code <= LAST; code++) {
    if (page._core.unicodeService.wcwidth(code) !== server._core.unicodeService.wcwidth(code)) differing.push(code);
  }
  expect(differing).toEqual([]);
});
