/** All flags by section, and the type of their values. */
import type { Flag } from '../flag.js'
import { audit, auditWebhook } from './audit.js'
import { authentication } from './authentication.js'
import { authorization } from './authorization.js'
import { cluster } from './cluster.js'
import { features } from './features.js'
import { health, limits } from './limits.js'
import { general, observability } from './observability.js'
import { serving } from './serving.js'
import { storage } from './storage.js'

/** In `--help` order. */
export const SECTIONS = {
  General: general,
  'Secure serving': serving,
  Store: storage,
  Authentication: authentication,
  Authorization: authorization,
  'Audit log': audit,
  'Audit webhook': auditWebhook,
  'Admission, features and API versions': features,
  Limits: limits,
  'Health and shutdown': health,
  'Cluster, nodes and cloud': cluster,
  'Logs, metrics and traces': observability
}

export const FLAGS = {
  ...general, ...serving, ...storage, ...authentication, ...authorization, ...audit, ...auditWebhook, ...features,
  ...limits, ...health, ...cluster, ...observability
}

export type FlagName = keyof typeof FLAGS
export type Values = { readonly [K in FlagName]: (typeof FLAGS)[K] extends Flag<infer T> ? T : never }

export const isFlagName = (name: string): name is FlagName => Object.hasOwn(FLAGS, name)
