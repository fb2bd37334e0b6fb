// A picture shows what the terminal shows, and is safe to open whatever a program printed.
import { Resvg } from '@resvg/resvg-js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Fold } from '../../../src/terminal/fold.js';
import { draw } from '../../../src/terminal/picture/draw.js';
import type { ThemeName } from '../../../src/terminal/picture/theme.js';
import { noise, program } from '../../support/programs.js';

const SIZE = { cols: 20, rows: 4 };

function svgAfter(output: string | Uint8Array, { size = SIZE, theme = 'dark' as ThemeName, title = '' } = {}): string {
  const fold = new Fold(size);
  fold.output(1, Buffer.from(output));
  const snapshot = fold.snapshot();
  fold.dispose();
  return Buffer.from(draw({ snapshot, format: 'svg', theme, title })).toString();
}

const textElement = (svg: string, text: string): string => svg.match(new RegExp(`<text [^>]*>${text}</text>`))?.[0] ?? `no ${text}`;
const fillOf = (svg: string, text: string): string | undefined => textElement(svg, text).match(/fill="([^"]+)"/)?.[1];

describe('a picture of a screen', () => {
  it('is well formed and holds nothing but what is drawn, whatever was printed', () => {
    const tags = new Set(['svg', 'title', 'style', 'rect', 'g', 'text', 'path']);
    fc.assert(
      fc.property(
        fc.oneof(
          program.map((text) => Buffer.from(text)),
          noise,
        ),
        fc.constantFrom('dark' as const, 'light' as const),
        (output, theme) => {
          const svg = svgAfter(output, { theme });
          const { width, height } = new Resvg(svg, { font: { loadSystemFonts: false } });
          expect([width, height]).toEqual([160, 64]);
          for (const [, tag] of svg.matchAll(/<\/?([a-z]+)/g)) expect(tags).toContain(tag);
          expect(svg).not.toMatch(/\son|href|url\(|<!|<\?/);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('shows text that looks like markup as text, in the title too', () => {
    const svg = svgAfter('\x1b]2;</title><script>alert(1)</script>\x07<b>"&amp;"</b>\x1b]8;;javascript:alert(1)\x07x');
    expect(svg).toContain('<title>&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt;</title>');
    expect(svg).toContain('&lt;b&gt;&quot;&amp;amp;&quot;&lt;/b&gt;');
    expect(svg).not.toMatch(/<script|javascript/);
  });

  it('is called what the session is called, until the program sets a title', () => {
    expect(svgAfter('', { title: 'Build <1>' })).toContain('<title>Build &lt;1&gt;</title>');
    expect(svgAfter('\x1b]2;vim\x07', { title: 'Build' })).toContain('<title>vim</title>');
  });

  it('keeps columns, whatever font draws it', () => {
    expect(textElement(svgAfter('\x1b[?25lab  cd'), 'ab {2}cd')).toMatch(/x="0" .*textLength="48"/);
    expect(textElement(svgAfter('\x1b[?25lab\r\n  日本語x'), 'x')).toMatch(/x="64" /);
    expect(textElement(svgAfter('\x1b[?25l  日本'), '日本')).toMatch(/x="16 32" /);
    expect(textElement(svgAfter('\x1b[?25laae\u0301b'), 'e\u0301')).toMatch(/x="16" /);
  });

  it.each([
    ['one of sixteen', '\x1b[31m', '#e5786d'],
    ['a bold one of the first eight, which is bright', '\x1b[1;31m', '#f2978d'],
    ['one of 256', '\x1b[38;5;208m', '#ff8700'],
    ['one of 24 bits', '\x1b[38;2;1;2;3m', '#010203'],
    ['one that the program has changed', '\x1b]4;1;rgb:11/22/33\x07\x1b[31m', '#112233'],
    ['a default one that it has changed', '\x1b]10;#abcdef\x07', '#abcdef'],
    ['the ground, where it is inverse', '\x1b[7m', '#0e1318'],
    ['that of its ground, where it is inverse', '\x1b[42;7m', '#8fc77a'],
  ])('draws in its colour: %s', (_name, sequence, fill) => {
    expect(fillOf(svgAfter(`\x1b[?25l${sequence}x`), 'x')).toBe(fill);
  });

  it('is drawn in the theme that is asked for', () => {
    const svg = svgAfter('\x1b[?25lx \x1b[34my', { theme: 'light' });
    expect([fillOf(svg, 'x'), fillOf(svg, 'y')]).toEqual(['#22292f', '#235fa8']);
    expect(svg).toContain('<rect width="160" height="64" fill="#fdfdfc"/>');
  });

  it('draws bold, italic and dim text so, and none that is hidden', () => {
    const svg = svgAfter('\x1b[?25l\x1b[1mB\x1b[0;3mI\x1b[0;2mD\x1b[0;8mH');
    expect(textElement(svg, 'B')).toContain('font-weight="bold"');
    expect(textElement(svg, 'I')).toContain('font-style="italic"');
    expect(textElement(svg, 'D')).toContain('opacity=".5"');
    expect(textElement(svg, 'H')).toBe('no H');
  });

  it('tells the kinds of lines apart, in their own colours', () => {
    const kinds = ['4', '4:2', '4:3', '4:4', '4:5', '9', '53'];
    const strokes = kinds.map((kind) => svgAfter(`\x1b[?25l\x1b[${kind}mxy`).match(/<path [^>]*>/)?.[0]);
    expect(new Set(strokes).size).toBe(kinds.length);
    expect(svgAfter('\x1b[?25l\x1b[4;58;2;1;2;3mx')).toMatch(/<path [^>]*stroke="#010203"/);
    expect(svgAfter('\x1b[?25lplain')).not.toContain('<path');
  });

  it.each([
    ['a block', '', '<rect x="16" y="0" width="8" height="16" fill="#5cc4b4"/>'],
    ['an underline', '\x1b[4 q', '<rect x="16" y="14" width="8" height="2" fill="#5cc4b4"/>'],
    ['a bar', '\x1b[6 q', '<rect x="16" y="0" width="2" height="16" fill="#5cc4b4"/>'],
    ['of another colour', '\x1b]12;#010203\x07', '<rect x="16" y="0" width="8" height="16" fill="#010203"/>'],
  ])('shows the cursor: %s', (_name, sequence, shown) => {
    expect(svgAfter(`${sequence}ab`)).toContain(shown);
    expect(svgAfter(`${sequence}ab\x1b[?25l`)).not.toContain(shown);
  });

  it('has a block cursor as wide as the character under it', () => {
    expect(svgAfter('日\x1b[H')).toContain('<rect x="0" y="0" width="16" height="16" fill="#5cc4b4"/>');
  });
});
