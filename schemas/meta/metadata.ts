/** Validation of metadata, on create and on update. */
import { isOn } from '../gates.js'
import type { Report } from '../language/declare.js'
import { validateFieldManager } from './field-manager.js'
import type { ObjectMeta, OwnerReference } from './object.js'
import {
  FOREGROUND_FINALIZER, ORPHAN_FINALIZER, validateFinalizerDomain, validateFinalizerName
} from './metadata-rules.js'
import { dnsLabel, qualifiedName, labelValue, type NameRule } from '../names.js'
import { sameValue } from '../language/values.js'
import { forbidden, invalid, checkName, required, tooLong } from '../rules/findings.js'

const MAX_ANNOTATIONS_SIZE = 256 * 1024
const MAX_SUBRESOURCE = 256
/** Owners quoted in an error about several. */
const MAX_QUOTED = 10

export interface LaterNames { readonly gate: string, readonly rule: NameRule }

interface Ruled {
  readonly namespaced: boolean
  readonly nameRule: NameRule
  /** The rule of servers with a gate. */
  readonly laterNames?: LaterNames | undefined
  readonly anyFinalizer: boolean
  readonly fieldAnnotations?: readonly string[]
}

export function validateMetadata (resource: Ruled, metadata: ObjectMeta, report: Report): void {
  validateName(resource, metadata, report)
  validateNamespace(resource, metadata, report)
  if ((metadata.generation ?? 0) < 0) {
    invalid(report, 'metadata.generation', metadata.generation, 'must be greater than or equal to 0')
  }
  validateLabels(metadata.labels, 'metadata.labels', report)
  validateAnnotations(metadata.annotations, 'metadata.annotations', report, resource.fieldAnnotations)
  validateOwners(metadata.ownerReferences ?? [], report)
  validateFinalizers(metadata.finalizers ?? [], resource.anyFinalizer, report)
  validateManagedFields(metadata, report)
}

function validateName (
  { nameRule, laterNames }: Ruled, { name, generateName }: ObjectMeta, report: Report
): void {
  const rule = laterNames !== undefined && isOn(report, laterNames.gate) ? laterNames.rule : nameRule
  if (generateName) {
    for (const detail of rule(generateName, true)) {
      invalid(report, 'metadata.generateName', generateName, detail)
    }
  }
  if (!name) {
    required(report, 'metadata.name', 'name or generateName is required')
    return
  }
  checkName(report, 'metadata.name', name, rule)
}

function validateNamespace (resource: Ruled, { namespace }: ObjectMeta, report: Report): void {
  if (!resource.namespaced) {
    if (namespace) forbidden(report, 'metadata.namespace', 'not allowed on this type')
    return
  }
  if (!namespace) {
    required(report, 'metadata.namespace')
    return
  }
  checkName(report, 'metadata.namespace', namespace, dnsLabel)
}

/** Labels of an object or of a selector. */
export function validateLabels (labels: ObjectMeta['labels'], at: string, report: Report): void {
  for (const [key, value] of Object.entries(labels ?? {})) {
    checkName(report, at, key, qualifiedName)
    checkName(report, at, value, labelValue)
  }
}

/** @param uncounted keys of annotations that do not count towards the limit of size */
export function validateAnnotations (
  annotations: ObjectMeta['annotations'], at: string, report: Report, uncounted: readonly string[] = []
): void {
  let size = 0
  for (const [key, value] of Object.entries(annotations ?? {})) {
    // Upper case is valid in the domain of an annotation key, but not of a label key.
    for (const detail of qualifiedName(key.toLowerCase())) invalid(report, at, key, detail)
    if (!uncounted.includes(key)) size += Buffer.byteLength(key) + Buffer.byteLength(value)
  }
  if (size > MAX_ANNOTATIONS_SIZE) tooLong(report, at, MAX_ANNOTATIONS_SIZE)
}

/** As upstream, field paths have no index; the value identifies the owner. */
function validateOwners (owners: readonly OwnerReference[], report: Report): void {
  const field = 'metadata.ownerReferences'
  let controller: string | undefined
  for (const owner of owners) {
    const { apiVersion, kind, name, uid } = owner
    const parts = apiVersion.split('/')
    if (parts.length > 2 || parts.at(-1) === '') {
      invalid(report, `${field}.apiVersion`, apiVersion, 'version must not be empty')
    }
    for (const [member, value] of Object.entries({ kind, name, uid })) {
      if (value === '') invalid(report, `${field}.${member}`, value, `${member} must not be empty`)
    }
    if (apiVersion === 'v1' && kind === 'Event') invalid(report, field, owner, 'an Event of v1 cannot be an owner')
    if (owner.controller !== true) continue
    if (controller !== undefined) {
      invalid(
        report, field, owners.slice(0, MAX_QUOTED),
        `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${kind}` +
          `/${name}`
      )
    }
    controller ??= `${kind}/${name}`
  }
}

function validateFinalizers (finalizers: readonly string[], any: boolean, report: Report): void {
  const field = 'metadata.finalizers'
  finalizers.forEach((name, index) => {
    validateFinalizerName(name, field, report)
    if (!any) validateFinalizerDomain(name, `${field}[${index}]`, report)
  })
  if (finalizers.includes(ORPHAN_FINALIZER) && finalizers.includes(FOREGROUND_FINALIZER)) {
    invalid(report, field, finalizers, `finalizer ${ORPHAN_FINALIZER} and ${FOREGROUND_FINALIZER} cannot be both set`)
  }
}

export function validateManagedFields ({ managedFields }: ObjectMeta, report: Report): void {
  managedFields?.forEach((entry, index) => {
    const field = `metadata.managedFields[${index}]`
    if (entry.operation !== 'Apply' && entry.operation !== 'Update') {
      invalid(report, `${field}.operation`, entry.operation ?? '', 'must be `Apply` or `Update`')
    }
    if (entry.fieldsType !== undefined && entry.fieldsType !== 'FieldsV1') {
      invalid(report, `${field}.fieldsType`, entry.fieldsType, 'must be `FieldsV1`')
    }
    validateFieldManager(entry.manager ?? '', `${field}.manager`, report)
    if (Buffer.byteLength(entry.subresource ?? '') > MAX_SUBRESOURCE) {
      tooLong(report, `${field}.subresource`, MAX_SUBRESOURCE)
    }
  })
}

const FROZEN =
  ['name', 'namespace', 'uid', 'creationTimestamp', 'deletionTimestamp', 'deletionGracePeriodSeconds'] as const

export function validateMetadataUpdate (metadata: ObjectMeta, old: ObjectMeta, report: Report): void {
  for (const name of FROZEN) {
    if ((metadata[name] ?? '') !== (old[name] ?? '')) {
      invalid(report, `metadata.${name}`, metadata[name] ?? '', 'field is immutable')
    }
  }
  if ((metadata.generation ?? 0) < (old.generation ?? 0)) {
    invalid(report, 'metadata.generation', metadata.generation ?? 0, 'must not be decremented')
  }
  if (old.deletionTimestamp !== undefined && !sameValue(metadata.finalizers, old.finalizers)) {
    const before = new Set(old.finalizers)
    const added = [...new Set(metadata.finalizers)].filter(name => !before.has(name)).sort()
    if (added.length > 0) {
      forbidden(
        report, 'metadata.finalizers',
        `no new finalizers can be added if the object is being deleted, found new finalizers ${JSON.stringify(added)}`
      )
    }
  }
}
