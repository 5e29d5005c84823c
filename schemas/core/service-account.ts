/** ServiceAccount (v1): an identity for programs. */
import { bool, list } from '../declare.js'
import type { Static } from '../declare.js'
import { kind, metadata } from './package.js'
import { LocalObjectReference, ObjectReference } from './references.js'

export type ServiceAccount = Static<typeof ServiceAccount>
export const ServiceAccount = kind('ServiceAccount', 'An identity for programs, within a namespace.', {
  metadata,
  secrets: list(2, 'Secrets programs under this account may use.', ObjectReference, { patchStrategy: 'merge', patchMergeKey: 'name' }),
  imagePullSecrets: list(3, 'Secrets images are pulled with.', LocalObjectReference),
  automountServiceAccountToken: bool(4, 'Whether a token is mounted into pods that do not say so themselves.', { pointer: true })
})

/** A reference to a secret is a name; whatever else is said of it is dropped. */
export function prepareServiceAccount (account: ServiceAccount): void {
  account.secrets &&= account.secrets.map(({ name }) => ({ name }))
}
