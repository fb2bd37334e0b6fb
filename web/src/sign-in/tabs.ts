// One sign-in for the tabs of one browser: a tab without a token asks the others of this page. Stores nothing, knows no view.

/** Milliseconds that the other tabs have to answer. */
const ANSWER_MS = 400;

type Word = { readonly kind: 'wanted' } | { readonly kind: 'token'; readonly token: string };

export interface Sharing {
  /** Another tab's token; undefined if none answers in time. */
  ask(): Promise<string | undefined>;
  /** Tells the other tabs of this one's token. */
  tell(token: string): void;
}

/** `mine` is what this tab answers when asked; `offered` is called with every token that another tab tells of. */
export function shareSignIn(mine: () => string | undefined, offered: (token: string) => void): Sharing {
  const channel = new BroadcastChannel(`pty-gateway ${new URL('.', document.baseURI).pathname}`);
  const say = (word: Word) => channel.postMessage(word);
  const tell = (token: string) => say({ kind: 'token', token });
  let answered: ((token: string | undefined) => void) | undefined;
  channel.onmessage = ({ data }: MessageEvent<Word>) => {
    if (data.kind === 'wanted') {
      const token = mine();
      if (token !== undefined) tell(token);
    } else if (answered) answered(data.token);
    else offered(data.token);
  };
  const ask = () =>
    new Promise<string | undefined>((resolve) => {
      const timer = setTimeout(() => answered?.(undefined), ANSWER_MS);
      answered = (token) => {
        answered = undefined;
        clearTimeout(timer);
        resolve(token);
      };
      say({ kind: 'wanted' });
    });
  return { ask, tell };
}
