// Whether what revokes tokens and certificates can be asked. Knows no token.
import { access } from 'node:fs/promises';
import { revocationFile } from '../../access/revocation-file.js';
import type { Config } from '../../config.js';
import { attempt, type Finding, warn } from './finding.js';

export async function revocationFindings({ auth: { revocationFile: path } }: Config): Promise<Finding[]> {
  if (path === undefined) return [];
  const check = 'REVOCATION_FILE';
  const isThere = await access(path).then(
    () => true,
    ({ code }) => code !== 'ENOENT',
  );
  if (!isThere)
    return [
      warn(check, `${path} is not there: until it is, it revokes nothing`, 'make it, if only empty, so that a slip in its name is seen'),
    ];
  return [await attempt(check, 'correct that line', async () => `${await revocationFile(path).reread()} revoked`)];
}
