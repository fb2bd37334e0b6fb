// What the page offers to whom; the gateway decides anyway (contract, Tokens). Knows no token and no view.
import { may, type Principal, reaches } from '../../../src/access/principal.js';

/** A token that names its sessions is good for no new one. */
export const mayStart = (principal: Principal, instanceId: string): boolean =>
  may(principal, 'pty:control') && reaches(principal, instanceId) && principal.sessions === undefined;

export const mayEnd = (principal: Principal, createdBy: string | undefined): boolean =>
  may(principal, 'pty:admin') || (may(principal, 'pty:control') && createdBy === principal.name);
