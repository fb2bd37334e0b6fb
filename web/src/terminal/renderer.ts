// How a terminal is drawn: by WebGL where that is fast, else as text of the page. Knows no connection.
import type { Terminal } from '@xterm/xterm';
import type { Settings } from '../settings/choices.js';

export interface Renderer {
  use(wanted: Settings['renderer']): void;
}

/**
 * Begins as text of the page; that is also what is left when the graphics context is lost. `changed` is told when cells may have another size. A terminal that
 * is in no page now is drawn so as well, until the signal.
 */
export function createRenderer(terminal: Terminal, changed: () => void, signal: AbortSignal): Renderer {
  let wanted: Settings['renderer'] = 'dom';
  let addon: { dispose(): void } | undefined;
  const toText = () => {
    addon?.dispose();
    addon = undefined;
    if (terminal.element) terminal.element.dataset.renderer = 'dom';
    changed();
  };
  const toWebgl = async () => {
    const { WebglAddon } = await import('@xterm/addon-webgl');
    if (wanted === 'dom' || addon || signal.aborted || !terminal.element) return;
    const webgl = new WebglAddon();
    webgl.onContextLoss(toText);
    terminal.loadAddon(webgl);
    addon = webgl;
    terminal.element.dataset.renderer = 'webgl';
    changed();
  };
  return {
    use(next) {
      wanted = next;
      const isWebgl = next === 'webgl' || (next === 'auto' && hasFastWebgl());
      // A browser that has WebGL may yet have no context to give.
      if (isWebgl && !addon) void toWebgl().catch(toText);
      else if (!isWebgl && addon) toText();
    },
  };
}

/** What draws without graphics hardware; not all browsers say so when they are asked. */
const BY_PROCESSOR = /swiftshader|llvmpipe|software|basic render/i;

let fast: boolean | undefined;

/** Not where the processor would have to do the work of the graphics hardware. Asked once: a context is made for it. */
function hasFastWebgl(): boolean {
  if (fast !== undefined) return fast;
  const context = document.createElement('canvas').getContext('webgl2', { failIfMajorPerformanceCaveat: true });
  const drawnBy = context?.getExtension('WEBGL_debug_renderer_info')?.UNMASKED_RENDERER_WEBGL;
  fast = context !== null && !BY_PROCESSOR.test(String(drawnBy === undefined ? '' : context.getParameter(drawnBy)));
  context?.getExtension('WEBGL_lose_context')?.loseContext();
  return fast;
}
