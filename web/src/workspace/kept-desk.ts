// Keeps the open sessions over a reload, for this tab of the browser alone. Knows no view.
import { fragmentOf, readFragment } from '../shared/place.js';
import { type Desk, emptyDesk, MAX_OPEN, tilings } from './desk.js';

const KEY = 'pty-gateway.desk';

export function keepDesk({ open, tiling }: Desk): void {
  sessionStorage.setItem(KEY, JSON.stringify({ open: open.map(fragmentOf), tiling }));
}

/** As it was, with none of them active; what cannot be read is passed over. */
export function keptDesk(): Desk {
  try {
    const { open, tiling } = JSON.parse(sessionStorage.getItem(KEY) ?? '{}') as { open?: unknown; tiling?: unknown };
    const places = (Array.isArray(open) ? open : []).flatMap((hash) => readFragment(String(hash)).place ?? []);
    return { open: places.slice(-MAX_OPEN), active: undefined, tiling: tilings.find((one) => one === tiling) ?? emptyDesk.tiling };
  } catch {
    return emptyDesk;
  }
}
