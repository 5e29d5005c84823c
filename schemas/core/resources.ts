/** The resources of the core group, version v1. */
import { resource } from '../resource.js'
import { age, count, name, text } from '../columns.js'
import { dnsLabel } from '../names.js'
import { ConfigMap, Secret } from './config.js'
import { Namespace } from './namespace.js'
import { ServiceAccount } from './service-account.js'

export const namespaces = resource(Namespace, {
  plural: 'namespaces',
  shortNames: ['ns'],
  namespaced: false,
  verbs: ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'],
  subresources: [
    { name: 'finalize', verbs: ['update'] },
    { name: 'status', verbs: ['get', 'patch', 'update'] }
  ],
  deleteReturns: 'Object',
  nameRule: dnsLabel,
  columns: [name, text<Namespace>('Status', 'Where the namespace stands.', ({ status }) => status.phase), age],
  selectableFields: { 'status.phase': ({ status }) => status.phase ?? '' }
})

export const configMaps = resource(ConfigMap, {
  plural: 'configmaps',
  shortNames: ['cm'],
  namespaced: true,
  columns: [name, text<ConfigMap>('Data', 'Number of entries.', ({ data, binaryData }) => count(data) + count(binaryData)), age]
})

export const secrets = resource(Secret, {
  plural: 'secrets',
  namespaced: true,
  columns: [
    name,
    text<Secret>('Type', 'What the data is for.', ({ type }) => type),
    text<Secret>('Data', 'Number of entries.', ({ data }) => count(data)),
    age
  ],
  selectableFields: { type: ({ type }) => type ?? '' }
})

export const serviceAccounts = resource(ServiceAccount, {
  plural: 'serviceaccounts',
  shortNames: ['sa'],
  namespaced: true,
  subresources: [{ name: 'token', verbs: ['create'], kind: 'TokenRequest', group: 'authentication.orch.io', version: 'v1' }],
  deleteReturns: 'Object',
  columns: [name, text<ServiceAccount>('Secrets', 'Number of secrets.', ({ secrets }) => secrets?.length ?? 0), age]
})
