// The visitor's token: taken out of the fragment, kept for this tab alone. Checks nothing: the gateway does.

const KEY = 'pty-gateway.token';

export const storedToken = (): string | undefined => sessionStorage.getItem(KEY) ?? undefined;
export const storeToken = (token: string): void => sessionStorage.setItem(KEY, token);
export const forgetToken = (): void => sessionStorage.removeItem(KEY);

/** The name in the token (`sub`), to be shown to others in a session; undefined if the token cannot be read. */
export function nameIn(token: string): string | undefined {
  try {
    const part = (token.split('.')[1] ?? '').replaceAll('-', '+').replaceAll('_', '/');
    const bytes = Uint8Array.from(atob(part), (c) => c.charCodeAt(0));
    const claims: unknown = JSON.parse(new TextDecoder().decode(bytes));
    const sub = typeof claims === 'object' && claims !== null && 'sub' in claims ? claims.sub : undefined;
    return typeof sub === 'string' && sub !== '' ? sub : undefined;
  } catch {
    return undefined;
  }
}
