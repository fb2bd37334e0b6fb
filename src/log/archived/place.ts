// Where an archive is, as an operator says it, and the store that is there. Knows no environment and no session.
import { fileURLToPath } from 'node:url';
import { openDirectoryStore } from './directory.js';
import { type S3Place, s3Store } from './s3.js';
import type { ArchiveStore } from './store.js';

export type ArchivePlace = { readonly kind: 'directory'; readonly path: string } | ({ readonly kind: 's3' } & S3Place);

/** For a server that is not Amazon's. */
interface S3Server {
  readonly endpoint?: string | undefined;
  /** Where absent: on a server of one's own. */
  readonly pathStyle?: boolean | undefined;
}

/** `file:///folder` or `s3://bucket/prefix`; undefined for what is neither. */
export function readPlace(text: string, server: S3Server = {}): ArchivePlace | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || url.username || url.password || url.search || url.hash) return undefined;
  try {
    if (url.protocol === 'file:') return directory(url);
    return url.protocol === 's3:' ? bucket(url, server) : undefined;
  } catch {
    // An escape in the path stands for nothing.
    return undefined;
  }
}

function directory(url: URL): ArchivePlace | undefined {
  return url.host === '' && url.pathname !== '/' ? { kind: 'directory', path: fileURLToPath(url) } : undefined;
}

function bucket({ host, pathname }: URL, { endpoint, pathStyle }: S3Server): ArchivePlace | undefined {
  if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(host)) return undefined;
  const prefix = decodeURIComponent(pathname).replace(/^\/+|\/+$/g, '');
  return { kind: 's3', bucket: host, prefix, endpoint, pathStyle: pathStyle ?? endpoint !== undefined };
}

/** Rejects with the system's error if a folder cannot be made. A bucket is not asked for: it may come back. */
export async function openStore(place: ArchivePlace): Promise<ArchiveStore> {
  return place.kind === 's3' ? s3Store(place) : openDirectoryStore(place.path);
}
