/** References to config maps, secrets, fields and resources. */
import { int32, one, inline, bool, string, type Static } from '../../language/declare.js'
import { LocalObjectReference } from './references.js'
import { Quantity } from '../../meta/quantity.js'
import { message } from './package.js'
import { validateKeySelector, validateKeyToPath } from './rules/data-references.js'

export type ConfigMapKeySelector = Static<typeof ConfigMapKeySelector>
export const ConfigMapKeySelector = message('ConfigMapKeySelector', 'One key of a config map.', {
  localObjectReference: inline(1, 'The config map to read.', LocalObjectReference),
  key: string(2, 'Key whose value is taken.', { required: true }),
  optional: bool(3, 'Whether the config map or its key may be missing.', { pointer: true })
}, { structType: 'atomic', validate: (selector, at, report) => { validateKeySelector(selector, at, report) } })

export type SecretKeySelector = Static<typeof SecretKeySelector>
export const SecretKeySelector = message('SecretKeySelector', 'One key of a secret.', {
  localObjectReference: inline(1, 'The secret to read.', LocalObjectReference),
  key: string(2, 'Key whose value is taken.', { required: true }),
  optional: bool(3, 'Whether the secret or its key may be missing.', { pointer: true })
}, { structType: 'atomic', validate: (selector, at, report) => { validateKeySelector(selector, at, report) } })

export type SecretReference = Static<typeof SecretReference>
export const SecretReference = message('SecretReference', 'A secret of any namespace.', {
  name: string(1, 'Name of the secret, unique in its namespace.'),
  namespace: string(2, 'Namespace of the secret.')
}, { structType: 'atomic' })

const OF_ANY_KIND = {
  apiGroup: string(1, 'API group of the object; empty for the core group.', { written: true, pointer: true }),
  kind: string(2, 'Kind of the object.', { required: true }),
  name: string(3, 'Name of the object.', { required: true })
}

export type TypedLocalObjectReference = Static<typeof TypedLocalObjectReference>
export const TypedLocalObjectReference = message(
  'TypedLocalObjectReference', 'An object of any kind in the same namespace.', OF_ANY_KIND, { structType: 'atomic' }
)

export type TypedObjectReference = Static<typeof TypedObjectReference>
export const TypedObjectReference = message('TypedObjectReference', 'An object of any kind.', {
  ...OF_ANY_KIND,
  namespace: string(4, 'Namespace of the object; by default that of what refers to it.', {
    pointer: true, gate: 'CrossNamespaceVolumeDataSource', since: '1.26'
  })
}, { formerly: { message: TypedLocalObjectReference, until: '1.26' } })

export type ObjectFieldSelector = Static<typeof ObjectFieldSelector>
export const ObjectFieldSelector = message('ObjectFieldSelector', 'One field of an object.', {
  apiVersion: string(1, 'API version the path refers to; by default v1.', { default: 'v1' }),
  fieldPath: string(2, 'Path of the field, such as metadata.name.', { required: true, ruled: true })
}, { structType: 'atomic' })

export type ResourceFieldSelector = Static<typeof ResourceFieldSelector>
export const ResourceFieldSelector = message('ResourceFieldSelector', 'A resource limit or request of a container.', {
  containerName: string(1, 'Container to look at; required in volumes.'),
  resource: string(2, 'What to take, such as limits.cpu or requests.memory.', { required: true, ruled: true }),
  divisor: one(3, 'Unit the value is given in; by default 1.', Quantity)
}, { structType: 'atomic' })

export type KeyToPath = Static<typeof KeyToPath>
export const KeyToPath = message('KeyToPath', 'A key and the file that shows its value.', {
  key: string(1, 'Key to show.', { required: true }),
  path: string(2, 'Relative path of the file, without .. in it.', { required: true }),
  mode: int32(3, 'Permission bits of the file; by default those of the volume.', { pointer: true })
}, { validate: (item, at, report) => { validateKeyToPath(item, at, report) } })

export type ConfigMapEnvSource = Static<typeof ConfigMapEnvSource>
export const ConfigMapEnvSource =
  message('ConfigMapEnvSource', 'A config map whose entries become environment variables.', {
    localObjectReference: inline(1, 'The config map to read.', LocalObjectReference),
    optional: bool(2, 'Whether the config map may be missing.', { pointer: true })
  })

export type SecretEnvSource = Static<typeof SecretEnvSource>
export const SecretEnvSource = message('SecretEnvSource', 'A secret whose entries become environment variables.', {
  localObjectReference: inline(1, 'The secret to read.', LocalObjectReference),
  optional: bool(2, 'Whether the secret may be missing.', { pointer: true })
})
