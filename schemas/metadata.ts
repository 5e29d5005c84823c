/**
 * Rules on the metadata of every object, and what an update may not change in it. The document names name, generateName,
 * namespace, uid, timestamps, finalizers, labels, annotations and managedFields; the rules are those of convention.
 */
import type { Report } from './declare.js'
import type { ObjectMeta, OwnerReference } from './meta/object.js'
import { finalizerName } from './metadata-rules.js'
import { dnsLabel, labelValue, qualifiedName } from './names.js'
import type { ResourceDefinition } from './resource.js'
import { sameValue } from './values.js'

const MAX_ANNOTATIONS_SIZE = 256 * 1024
const MAX_MANAGER = 128
const MAX_CONTROLLERS = 1

export function validateMetadata (resource: ResourceDefinition, metadata: ObjectMeta, report: Report): void {
  validateName(resource, metadata, report)
  validateNamespace(resource, metadata, report)
  if ((metadata.generation ?? 0) < 0) {
    report({ type: 'FieldValueInvalid', field: 'metadata.generation', value: metadata.generation, detail: 'must be greater than or equal to 0' })
  }
  validateLabels(metadata.labels, report)
  validateAnnotations(metadata.annotations, report)
  validateOwners(metadata.ownerReferences ?? [], report)
  metadata.finalizers?.forEach((name, index) => {
    const why = finalizerName(name)
    if (why !== undefined) report({ type: 'FieldValueInvalid', field: `metadata.finalizers[${index}]`, value: name, detail: why })
  })
  validateManagedFields(metadata, report)
}

function validateName (resource: ResourceDefinition, { name, generateName }: ObjectMeta, report: Report): void {
  if (generateName) {
    const why = resource.nameRule(generateName, true)
    if (why !== undefined) report({ type: 'FieldValueInvalid', field: 'metadata.generateName', value: generateName, detail: why })
  }
  if (!name) {
    report({ type: 'FieldValueRequired', field: 'metadata.name', detail: 'name or generateName is required' })
    return
  }
  const why = resource.nameRule(name)
  if (why !== undefined) report({ type: 'FieldValueInvalid', field: 'metadata.name', value: name, detail: why })
}

function validateNamespace (resource: ResourceDefinition, { namespace }: ObjectMeta, report: Report): void {
  if (!resource.namespaced) {
    if (namespace) report({ type: 'FieldValueForbidden', field: 'metadata.namespace', detail: 'not allowed on this type' })
    return
  }
  if (!namespace) {
    report({ type: 'FieldValueRequired', field: 'metadata.namespace', detail: '' })
    return
  }
  const why = dnsLabel(namespace)
  if (why !== undefined) report({ type: 'FieldValueInvalid', field: 'metadata.namespace', value: namespace, detail: why })
}

function validateLabels (labels: ObjectMeta['labels'], report: Report): void {
  for (const [key, value] of Object.entries(labels ?? {})) {
    const why = qualifiedName(key)
    if (why !== undefined) report({ type: 'FieldValueInvalid', field: 'metadata.labels', value: key, detail: why })
    const whyNot = labelValue(value)
    if (whyNot !== undefined) report({ type: 'FieldValueInvalid', field: 'metadata.labels', value, detail: whyNot })
  }
}

function validateAnnotations (annotations: ObjectMeta['annotations'], report: Report): void {
  let size = 0
  for (const [key, value] of Object.entries(annotations ?? {})) {
    // Annotation keys may have capitals in their domain, labels may not.
    const why = qualifiedName(key.toLowerCase())
    if (why !== undefined) report({ type: 'FieldValueInvalid', field: 'metadata.annotations', value: key, detail: why })
    size += Buffer.byteLength(key) + Buffer.byteLength(value)
  }
  if (size > MAX_ANNOTATIONS_SIZE) {
    report({ type: 'FieldValueTooLong', field: 'metadata.annotations', detail: `must have at most ${MAX_ANNOTATIONS_SIZE} bytes` })
  }
}

function validateOwners (owners: readonly OwnerReference[], report: Report): void {
  let controllers = 0
  owners.forEach((owner, index) => {
    const field = `metadata.ownerReferences[${index}]`
    const required = (name: 'apiVersion' | 'kind' | 'name' | 'uid') => {
      if (owner[name] === '') report({ type: 'FieldValueRequired', field: `${field}.${name}`, detail: 'must not be empty' })
    }
    required('apiVersion')
    required('kind')
    required('name')
    required('uid')
    if (owner.apiVersion.split('/').length > 2 || owner.apiVersion.startsWith('/') || owner.apiVersion.endsWith('/')) {
      report({ type: 'FieldValueInvalid', field: `${field}.apiVersion`, value: owner.apiVersion, detail: 'must be a version or group/version' })
    }
    if (owner.apiVersion === 'v1' && owner.kind === 'Event') {
      report({ type: 'FieldValueInvalid', field, value: 'v1, Kind=Event', detail: 'is disallowed from being an owner' })
    }
    if (owner.controller === true && ++controllers > MAX_CONTROLLERS) {
      report({ type: 'FieldValueInvalid', field: 'metadata.ownerReferences', value: owner.name, detail: 'only one reference may have controller set to true' })
    }
  })
}

function validateManagedFields ({ managedFields }: ObjectMeta, report: Report): void {
  managedFields?.forEach((entry, index) => {
    const field = `metadata.managedFields[${index}]`
    if (entry.operation !== 'Apply' && entry.operation !== 'Update') {
      report({ type: 'FieldValueInvalid', field: `${field}.operation`, value: entry.operation ?? '', detail: 'must be `Apply` or `Update`' })
    }
    if (entry.fieldsType !== undefined && entry.fieldsType !== 'FieldsV1') {
      report({ type: 'FieldValueInvalid', field: `${field}.fieldsType`, value: entry.fieldsType, detail: 'must be `FieldsV1`' })
    }
    // eslint-disable-next-line no-control-regex -- unprintable characters are what is looked for
    if (entry.manager !== undefined && /[\u0000-\u001f\u007f]/.test(entry.manager)) {
      report({ type: 'FieldValueInvalid', field: `${field}.manager`, value: entry.manager, detail: 'should only contain printable characters' })
    }
    if ((entry.manager?.length ?? 0) > MAX_MANAGER) {
      report({ type: 'FieldValueTooLong', field: `${field}.manager`, detail: `must have at most ${MAX_MANAGER} characters` })
    }
  })
}

const FROZEN = ['name', 'namespace', 'uid', 'creationTimestamp', 'deletionTimestamp', 'deletionGracePeriodSeconds', 'clusterName'] as const

export function validateMetadataUpdate (metadata: ObjectMeta, old: ObjectMeta, report: Report): void {
  for (const name of FROZEN) {
    if ((metadata[name] ?? '') !== (old[name] ?? '')) {
      report({ type: 'FieldValueInvalid', field: `metadata.${name}`, value: metadata[name] ?? '', detail: 'field is immutable' })
    }
  }
  if ((metadata.generation ?? 0) < (old.generation ?? 0)) {
    report({ type: 'FieldValueInvalid', field: 'metadata.generation', value: metadata.generation ?? 0, detail: 'must not be decremented' })
  }
  if (old.deletionTimestamp !== undefined && !sameValue(metadata.finalizers, old.finalizers)) {
    const before = new Set(old.finalizers)
    const added = (metadata.finalizers ?? []).filter(name => !before.has(name))
    if (added.length > 0) {
      report({ type: 'FieldValueForbidden', field: 'metadata.finalizers', detail: `no new finalizers can be added if the object is being deleted, found new finalizers ${JSON.stringify(added)}` })
    }
  }
}
