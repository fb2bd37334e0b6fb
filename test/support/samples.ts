// The numbers on a page of /metrics. Knows no gateway.

/** By name with labels, as `pty_gateway_attachments{role="observer"}`. */
export type Samples = ReadonlyMap<string, number>;

export function samplesOf(page: string): Samples {
  const lines = page.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]));
}

/** Of a gateway on this port. */
export async function scrape(port: number): Promise<Samples> {
  return samplesOf(await (await fetch(`http://127.0.0.1:${port}/metrics`)).text());
}
