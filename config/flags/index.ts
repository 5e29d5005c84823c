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

/** What `--help` begins with. */
export const MOST_USED = {
  local: 'one machine, one person: makes an administrator and a kubeconfig',
  'secure-port': 'port of HTTPS, 6443 by default',
  'data-dir': 'folder of the embedded store',
  'etcd-servers': 'etcd instead of the embedded store',
  'compat-names': 'the names of Kubernetes, for its clients, charts and manifests',
  'emulated-version': 'release to be: 1.24 or 1.36',
  'authorization-mode': 'who may do what: Node,RBAC in a cluster',
  'client-ca-file': 'authority that signs certificates of users',
  'audit-log-path': 'log of who did what',
  v: 'verbosity of the log, 0 to 10'
} satisfies Partial<Record<FlagName, string>>
