// Why Redis refuses what it understood, in words. Knows no connection and no key.

const words: Readonly<Record<string, string>> = {
  OOM: 'its memory is full (maxmemory)',
  READONLY: 'the server is a replica, and takes no writes',
  LOADING: 'it is still loading its data',
  CLUSTERDOWN: 'the cluster is down',
  MASTERDOWN: 'the replica has lost its master',
  MISCONF: 'it cannot save its data to its disk',
  NOREPLICAS: 'it has fewer replicas than it was told to have',
  BUSY: 'it is busy with a script',
  NOAUTH: 'it asks for a password',
  WRONGPASS: 'it refuses the credentials',
  NOPERM: 'its user may not do that',
};

/** The first word of an error that is a reply: `OOM`, or empty where there is none. */
export const refusalCode = (error: Error): string => /^[A-Z]+(?= |$)/.exec(error.message)?.[0] ?? '';

/** Undefined for what is no reply: the connection broke, or there was no answer in time. */
export function refusalOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || error.name !== 'ReplyError') return undefined;
  const code = refusalCode(error);
  return words[code] ? `${words[code]} (${code})` : error.message.replace(/ script: .*/s, '');
}
