// Whether the archive can be asked, with the credentials that this environment has. Knows no session; writes nothing.
import type { Config } from '../../config.js';
import { type ArchivePlace, openStore } from '../../log/archived/place.js';
import { attempt, type Finding } from './finding.js';
import { folder } from './folder.js';

/** A name that nothing in an archive has: that it is not there is the answer of one who may ask. */
const NOBODYS = 'doctor/asks';
/** By what the store names its refusal: what to do about it. */
const repairs: Readonly<Record<string, string>> = {
  NoSuchBucket: 'make the bucket, or correct its name in ARCHIVE_URL',
  CredentialsProviderError: 'set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or give this machine a role',
  AccessDenied: 'allow s3:ListBucket on the bucket, and s3:GetObject, s3:PutObject and s3:DeleteObject on what is in it',
  InvalidAccessKeyId: 'correct AWS_ACCESS_KEY_ID: the server does not know it',
  SignatureDoesNotMatch: 'correct AWS_SECRET_ACCESS_KEY',
};

export async function archiveFindings({ archive }: Config): Promise<Finding[]> {
  if (!archive) return [];
  const { place } = archive;
  return [place.kind === 'directory' ? await folder('ARCHIVE_URL', place.path) : await bucket(place)];
}

async function bucket(place: ArchivePlace): Promise<Finding> {
  const store = await openStore(place);
  let named: string | undefined;
  const asked = async () => {
    await store.list(`${NOBODYS}/`);
    await store.get(NOBODYS);
    return `${store.place} can be listed and read; whether it can be written shows in archive_failures_total`;
  };
  const found = await attempt('ARCHIVE_URL', 'see that ARCHIVE_ENDPOINT and AWS_REGION are right, and that this machine reaches it', () =>
    asked().catch((error) => {
      named = error.name;
      throw new Error(`${store.place} refuses, or cannot be reached: ${error.name}: ${error.message || error.code}`, { cause: error });
    }),
  );
  store.close();
  const repair = repairs[named ?? ''];
  return repair === undefined ? found : { ...found, todo: repair };
}
