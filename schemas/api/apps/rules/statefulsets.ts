/** Validation of StatefulSets. Pod specs are validated with them under 1.36, and before only when pods are created. */
import { isOn } from '../../../gates.js'
import { validatePart } from '../../../language/validation.js'
import { dnsLabel, dnsSubdomain } from '../../../names.js'
import { PersistentVolumeClaimSpec } from '../../core/persistentvolumeclaims.js'
import { PodTemplateSpec } from '../../core/pod-spec.js'
import { checkRunsOn, checkTemplateMetadata, mismatch } from '../../core/rules/templates.js'
import { checkCollisions, checkCounts, checkSelector } from '../../core/rules/workloads.js'
import { checkName, forbidden, invalid, notNegative, notSupported, required } from '../../../rules/findings.js'
import { checkAtMostAll, checkIntOrPercent, isZero } from '../../../rules/int-or-percent.js'
import type { Report } from '../../../language/declare.js'
import { sameValue } from '../../../language/values.js'
import { selects } from '../../../selectors/objects.js'
import type {
  StatefulSet, StatefulSetPersistentVolumeClaimRetentionPolicy, StatefulSetSpec, StatefulSetUpdateStrategy
} from '../statefulsets.js'

const MANAGEMENT: readonly string[] = ['OrderedReady', 'Parallel']

export function validateStatefulSetSpec (spec: StatefulSetSpec, at: string, report: Report): void {
  const {
    replicas, minReadySeconds, selector, template, podManagementPolicy = '',
    persistentVolumeClaimRetentionPolicy: retention
  } = spec
  if (!MANAGEMENT.includes(podManagementPolicy)) {
    invalid(report, `${at}.podManagementPolicy`, podManagementPolicy, "must be 'OrderedReady' or 'Parallel'")
  }
  checkStrategy(spec.updateStrategy, `${at}.updateStrategy`, report)
  if (retention !== undefined) checkRetention(retention, `${at}.persistentVolumeClaimRetentionPolicy`, report)
  notNegative(report, `${at}.replicas`, replicas)
  notNegative(report, `${at}.minReadySeconds`, minReadySeconds)
  notNegative(report, `${at}.ordinals.start`, spec.ordinals?.start)
  checkSelector(selector, 'statefulset', `${at}.selector`, report)
  const selected = selects(selector, template.metadata.labels)
  if (selected === undefined) {
    invalid(report, `${at}.selector`, selector, '')
  } else {
    if (!selected) mismatch(template, `${at}.template`, report)
    checkTemplateMetadata(template, `${at}.template`, report)
  }
  checkRunsOn(template, 'StatefulSet', `${at}.template`, report)
}

/** Rules of release 1.36 on new sets, and on templates that change. */
export function validateTemplates (
  { metadata, spec }: StatefulSet, old: StatefulSet | undefined, report: Report
): void {
  if (!isOn(report, 'StatefulSetIsValidatedWhole')) return
  if (old === undefined || !sameValue(spec.template, old.spec.template)) {
    const template = withClaims(spec)
    if (template.spec.restartPolicy === 'Always') validatePart(PodTemplateSpec, template, 'spec.template', report)
  }
  if (old !== undefined) return
  if (dnsSubdomain(metadata.name ?? '').length === 0) checkName(report, 'metadata.name', metadata.name ?? '', dnsLabel)
  if ((spec.serviceName ?? '') !== '') checkName(report, 'spec.serviceName', spec.serviceName ?? '', dnsLabel)
  spec.volumeClaimTemplates?.forEach((claim, index) => {
    validatePart(PersistentVolumeClaimSpec, claim.spec, `spec.volumeClaimTemplates[${index}].spec`, report)
  })
}

/** The template as pods have it: what is claimed for each of them is among its volumes, and may be mounted. */
function withClaims ({ template, volumeClaimTemplates = [] }: StatefulSetSpec): StatefulSetSpec['template'] {
  const { volumes = [] } = template.spec
  const claimed = volumeClaimTemplates.map(({ metadata }) => metadata.name ?? '')
    .filter(name => volumes.every(volume => volume.name !== name))
    .map(name => ({ name, persistentVolumeClaim: { claimName: name } }))
  return { ...template, spec: { ...template.spec, volumes: [...volumes, ...claimed] } }
}

function checkStrategy (strategy: StatefulSetUpdateStrategy, at: string, report: Report): void {
  const { type, rollingUpdate } = strategy
  if (type === undefined) return required(report, at)
  if (type === 'OnDelete') {
    if (rollingUpdate !== undefined) {
      invalid(report, `${at}.rollingUpdate`, rollingUpdate, "only allowed for updateStrategy 'RollingUpdate'")
    }
    return
  }
  if (type !== 'RollingUpdate') return invalid(report, at, strategy, "must be 'RollingUpdate' or 'OnDelete'")
  const { partition, maxUnavailable } = rollingUpdate ?? {}
  notNegative(report, `${at}.rollingUpdate.partition`, partition)
  if (maxUnavailable === undefined) return
  const field = `${at}.rollingUpdate.maxUnavailable`
  checkIntOrPercent(report, field, maxUnavailable)
  if (isZero(maxUnavailable)) invalid(report, field, maxUnavailable, 'cannot be 0')
  checkAtMostAll(report, field, maxUnavailable)
}

const RETENTION = ['Retain', 'Delete']

function checkRetention (policy: StatefulSetPersistentVolumeClaimRetentionPolicy, at: string, report: Report): void {
  for (const field of ['whenDeleted', 'whenScaled'] as const) {
    const value = policy[field]
    if (value !== undefined && !RETENTION.includes(value)) notSupported(report, `${at}.${field}`, value, RETENTION)
  }
}

const CHANGEABLE =
  ['replicas', 'template', 'updateStrategy', 'persistentVolumeClaimRetentionPolicy', 'minReadySeconds'] as const
const CHANGEABLE_LATER = [
  'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy',
  'minReadySeconds'
] as const

export function validateStatefulSetUpdate (
  spec: StatefulSetSpec, old: StatefulSetSpec, at: string, report: Report
): void {
  const changeable = isOn(report, 'StatefulSetIsValidatedWhole') ? CHANGEABLE_LATER : CHANGEABLE
  const kept = Object.fromEntries(changeable.map(field => [field, old[field]]))
  if (!sameValue({ ...spec, ...kept }, old)) {
    forbidden(
      report, at,
      'updates to statefulset spec for fields other than ' +
        `${changeable.slice(0, -1).map(field => `'${field}'`).join(', ')} and '${changeable.at(-1)}' are forbidden`
    )
  }
}

export function validateStatefulSetStatus (
  { status }: StatefulSet, { status: old }: StatefulSet, report: Report
): void {
  checkCounts(
    status,
    ['replicas', 'readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas', 'observedGeneration'],
    ['readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas'], report, 'status.readyReplicas'
  )
  checkCollisions(status.collisionCount, old.collisionCount, report)
}
