// What a check found, and how a check that fails is a finding too. Knows no check.

export interface Finding {
  /** `fail`: the gateway would not start, or not work. `warn`: it would, and not as somebody may think. */
  readonly level: 'ok' | 'warn' | 'fail';
  /** What was looked at. */
  readonly check: string;
  /** What is so; holds no secret. */
  readonly found: string;
  /** What to do about it; absent where nothing is to be done. */
  readonly todo?: string;
}

export const ok = (check: string, found: string): Finding => ({ level: 'ok', check, found });
export const warn = (check: string, found: string, todo: string): Finding => ({ level: 'warn', check, found, todo });
export const fail = (check: string, found: string, todo: string): Finding => ({ level: 'fail', check, found, todo });

/** What the work resolves with is found; what it throws is why it fails. */
export async function attempt(check: string, todo: string, work: () => Promise<string> | string): Promise<Finding> {
  try {
    return ok(check, await work());
  } catch (error) {
    return fail(check, (error as Error).message, todo);
  }
}
