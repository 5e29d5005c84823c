/** Label values of metrics that the public project shows as hashes. */
import { createHash } from 'node:crypto'
import { hostname } from 'node:os'
import { identityOn } from '../../controllers/identity-lease.js'

export const digest = (content: string | Buffer): string =>
  `sha256:${createHash('sha256').update(content).digest('hex')}`

/** The label that says which server it is, and its value. */
export const SERVER = 'apiserver_id_hash'
export const serverHash = (): string => digest(identityOn(hostname()))
