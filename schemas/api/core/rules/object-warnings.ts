/** Warnings about nodes, volumes, claims, secrets, accounts and quotas since 1.36. */
import { compareQuantities, isWhole } from '../../../meta/quantity.js'
import { warnedLater, type Warn } from '../../../rules/warned.js'
import type { Node } from '../nodes.js'
import type { NodeSelector } from '../affinity.js'
import type { PersistentVolume } from '../persistentvolumes.js'
import type { PersistentVolumeClaim, PersistentVolumeClaimSpec } from '../persistentvolumeclaims.js'
import type { ResourceQuota } from '../resourcequotas.js'
import type { Secret } from '../secrets.js'
import type { ServiceAccount } from '../serviceaccounts.js'
import { warnOfVolumeSource } from './gone-volumes.js'
import { keyPairProblem } from './key-pairs.js'
import { goneLabel } from './node-labels.js'

const CLASS = 'volume.beta.orch.io/storage-class'
const MOUNT_OPTIONS = 'volume.beta.orch.io/mount-options'
const MOUNTABLE = 'orch.io/enforce-mountable-secrets'

const has = (annotations: Readonly<Record<string, string>> | undefined, key: string): boolean =>
  annotations !== undefined && Object.hasOwn(annotations, key)

export const nodeWarnings = warnedLater<Node>(({ spec = {} }, _old, warn) => {
  if (spec.configSource !== undefined) warn('spec.configSource: the feature is no longer supported')
  if ((spec.externalID ?? '') !== '') warn('spec.externalID: this field is deprecated, and is unused by the server')
})

/** Of keys of nodes' labels. */
export function warnOfLabels (keys: Iterable<readonly [key: string, at: string]>, warn: Warn): void {
  for (const [key, at] of keys) {
    const text = goneLabel(key, true)
    if (text !== undefined) warn(`${at}: ${key} is ${text}`)
  }
}

function * keysOf (selector: NodeSelector | undefined, at: string): Generator<readonly [string, string]> {
  for (const [index, { matchExpressions = [] }] of (selector?.nodeSelectorTerms ?? []).entries()) {
    for (const [place, { key }] of matchExpressions.entries()) {
      yield [key, `${at}.nodeSelectorTerms[${index}].matchExpressions[${place}].key`]
    }
  }
}

export const volumeWarnings = warnedLater<PersistentVolume>(({ metadata: { annotations }, spec }, _old, warn) => {
  if (has(annotations, CLASS)) {
    warn(`metadata.annotations[${CLASS}]: deprecated since v1.8; use "storageClassName" attribute instead`)
  }
  if (has(annotations, MOUNT_OPTIONS)) {
    warn(`metadata.annotations[${MOUNT_OPTIONS}]: deprecated since v1.31; use "mountOptions" attribute instead`)
  }
  if (spec.persistentVolumeReclaimPolicy === 'Recycle') {
    warn('spec.persistentVolumeReclaimPolicy: the Recycle reclaim policy is deprecated; use dynamic provisioning')
  }
  warnOfLabels(keysOf(spec.nodeAffinity?.required, 'spec.nodeAffinity.required'), warn)
  warnOfVolumeSource(spec, warn)
})

/** Of a claim, or of the template of one. */
export function warnOfClaim ({ resources }: PersistentVolumeClaimSpec, at: string, warn: Warn): void {
  for (const kind of ['limits', 'requests'] as const) {
    const storage = resources?.[kind]?.['storage']
    if (storage !== undefined && !isWhole(storage)) {
      const field = `${at}.resources.${kind}[storage]`
      warn(`${field}: fractional byte value ${JSON.stringify(storage)} is invalid, must be an integer`)
    }
  }
}

export const claimWarnings = warnedLater<PersistentVolumeClaim>(({ metadata: { annotations }, spec }, _old, warn) => {
  if (has(annotations, CLASS)) {
    warn(`metadata.annotations[${CLASS}]: deprecated since v1.8; use "storageClassName" attribute instead`)
  }
  warnOfClaim(spec, 'spec', warn)
})

export const secretWarnings = warnedLater<Secret>(({ type, data = {} }, _old, warn) => {
  if (type !== 'orch.io/tls') return
  const problem = keyPairProblem(data['tls.crt'] ?? '', data['tls.key'] ?? '')
  if (problem !== undefined) warn(`data: tls.crt and tls.key are no pair: ${problem}`)
})

export const accountWarnings = warnedLater<ServiceAccount>(({ metadata: { annotations } }, old, warn) => {
  if (has(annotations, MOUNTABLE) && !has(old?.metadata.annotations, MOUNTABLE)) {
    warn(`metadata.annotations[${MOUNTABLE}]: deprecated in v1.32+; prefer separate namespaces to isolate access to ` +
      'mounted secrets')
  }
})

export const quotaWarnings = warnedLater<ResourceQuota>(({ spec: { hard = {} } }, old, warn) => {
  if (old !== undefined) return
  for (const name of ['cpu', 'memory', 'ephemeral-storage']) {
    const [request, limit] = [hard[`requests.${name}`], hard[`limits.${name}`]]
    if (request !== undefined && limit !== undefined && compareQuantities(request, limit) > 0) {
      warn(`spec.hard[limits.${name}]: it is smaller than requests.${name}: ${limit} < ${request}`)
    }
  }
})
