// What more watchers of one session cost: CPU of each frame. Knows no picture.
import { LoadClient } from '../load/load-client.js';
import { compile } from '../peers/c-programs.js';
import { Gateway } from '../peers/gateway.js';
import { before } from '../support/crowd.js';
import type { Curve } from '../support/curve.js';
import { openWorkshop } from '../support/workshop.js';

const SIZES = [1, 64, 128, 256, 512];
const [FRAME_BYTES, PAUSE_MS, FRAMES] = [4096, 10, 150];

export async function attachments(): Promise<Curve[]> {
  const workshop = openWorkshop();
  const argv = [compile(workshop.folder).printer, `${FRAME_BYTES}`, `${PAUSE_MS * 1000}`, `${FRAMES}`];
  const [gateway, load] = [await Gateway.start(), new LoadClient()];
  const points: Array<[number, number]> = [];
  await before(gateway, load, argv, { watchers: 8 });
  for (const watchers of SIZES) points.push([watchers, (await before(gateway, load, argv, { watchers })).cpu / FRAMES]);
  await Promise.all([load.close(), gateway.close()]);
  workshop.close();
  return [{ name: 'CPU of a frame of 4 KiB', of: 'watchers', unit: 'ms', points }];
}
