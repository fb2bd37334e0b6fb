// Fetches within a bound. Knows no gateway.

/**
 * Rejects when there is no answer within `ms` milliseconds. The timer keeps the process alive: where a server hangs up at once nothing else may, and
 * the command would end without a word.
 */
export async function fetchWithin(ms: number, url: string, init: RequestInit = {}): Promise<Response> {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(new Error('it did not answer in time')), ms);
  try {
    return await fetch(url, { ...init, signal: controller.signal });
  } finally {
    clearTimeout(timer);
  }
}
