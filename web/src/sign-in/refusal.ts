// What one is told whose token is not taken. Knows no form.
const LINK_IS_OVER = 'This link is good no longer: it was revoked, or its time is over. Ask whoever sent it for a new one.';

/** Before anything was seen. */
export const refusedText = (why: string, byLink: boolean): string => (byLink ? LINK_IS_OVER : `That token was refused: ${why}.`);

/** When something is on the screen already. */
export const takenNoMoreText = (why: string, byLink: boolean): string =>
  byLink
    ? LINK_IS_OVER
    : `Your token is not taken any more: ${why}. Was the gateway started anew? Then open the URL that it prints now, or paste a fresh token.`;
