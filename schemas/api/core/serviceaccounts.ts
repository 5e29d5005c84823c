/** ServiceAccount (v1). */
import { age, name, text, until } from '../../columns.js'
import { list, bool, type Static } from '../../language/declare.js'
import { resource } from '../../resource.js'
import { metadata } from '../../meta/object.js'
import { kind } from './package.js'
import { LocalObjectReference, ObjectReference } from './references.js'
import { accountWarnings } from './rules/object-warnings.js'

export type ServiceAccount = Static<typeof ServiceAccount>
export const ServiceAccount = kind('ServiceAccount', 'An identity for programs, within a namespace.', {
  metadata,
  secrets: list(2, 'Secrets programs under this account may use.', ObjectReference, {
    patchStrategy: 'merge', patchMergeKey: 'name'
  }),
  imagePullSecrets: list(3, 'Secrets images are pulled with.', LocalObjectReference),
  automountServiceAccountToken: bool(
    4, 'Whether a token is mounted into pods that do not say so themselves.', { pointer: true }
  )
})

/** Only the name of a secret reference is kept. */
function prepare (account: ServiceAccount): void {
  account.secrets &&= account.secrets.map(({ name }) => name === undefined ? {} : { name })
}

export const serviceAccounts = resource(ServiceAccount, {
  plural: 'serviceaccounts',
  shortNames: ['sa'],
  namespaced: true,
  subresources: [
    { name: 'token', verbs: ['create'], kind: 'TokenRequest', group: 'authentication.orch.io', version: 'v1' }
  ],
  deleteReturns: 'Object',
  columns: [
    name,
    until('1.33', text<ServiceAccount>('Secrets', 'Number of secrets.', ({ secrets }) => secrets?.length ?? 0)),
    age
  ],
  strategy: { prepareForCreate: prepare, prepareForUpdate: prepare, warnings: accountWarnings }
})
