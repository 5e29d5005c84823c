/** Validation of Jobs, and generation of their selectors. */
import { isOn, type Gates } from '../../../gates.js'
import { mismatch } from '../../core/rules/templates.js'
import { PodTemplateSpec } from '../../core/pod-spec.js'
import { duplicate, invalid, notNegative, notSupported, required } from '../../../rules/findings.js'
import type { Report } from '../../../language/declare.js'
import { validatePart } from '../../../language/validation.js'
import { sameValue } from '../../../language/values.js'
import { dnsLabel } from '../../../names.js'
import { selects, validateLabelSelector } from '../../../selectors/objects.js'
import type { Job, JobSpec, JobStatus } from '../jobs.js'
import { checkJobPolicies } from './job-policies.js'

/** Labels of a job's pods: those of before release 1.27, and the same with a prefix. */
const UID_LABEL = 'controller-uid'
const NAME_LABEL = 'job-name'
const LATER_UID_LABEL = 'batch.orch.io/controller-uid'
const LATER_NAME_LABEL = 'batch.orch.io/job-name'
const PREFIXED_SINCE = '1.27'

/**
 * Marks jobs whose pods the controller tracks by finalizers, with their feature gate. Jobs that have the mark keep it.
 */
const TRACKING = 'batch.orch.io/job-tracking'
const TRACKING_GATE = 'JobTrackingWithFinalizers'
const isTracked = ({ metadata: { annotations } }: Job): boolean => annotations !== undefined &&
  Object.hasOwn(annotations, TRACKING)

/** Jobs that were sent without labels on the job and on its template. */
const unlabelled = new WeakSet<Job>()

export function prepareJob (job: Job, _user: unknown, gates: Gates): void {
  if (isEmpty(job.metadata.labels) && isEmpty(job.spec.template.metadata.labels)) unlabelled.add(job)
  const isPrefixed = gates.enabled(PREFIXED_SINCE)
  generateSelector(job, isPrefixed)
  if (isPrefixed) return
  if (gates.enabled(TRACKING_GATE)) job.metadata.annotations = { ...job.metadata.annotations, [TRACKING]: '' }
  else if (isTracked(job)) untrack(job)
}

export function prepareJobUpdate (job: Job, old: Job, subresource: string, gates: Gates): void {
  if (subresource === '' && !gates.enabled(TRACKING_GATE) && isTracked(job) && !isTracked(old)) untrack(job)
}

export const laterJobDefaults = {
  since: PREFIXED_SINCE,
  fill: ({ spec }: Job, gates: Gates): void => {
    spec.manualSelector ??= false
    if (gates.enabled('JobPodReplacementPolicy')) {
      spec.podReplacementPolicy ??= spec.podFailurePolicy === undefined ? 'TerminatingOrFailed' : 'Failed'
    }
  }
}

/** Copies, because the annotations object may belong to the request. */
function untrack ({ metadata }: Job): void {
  const { [TRACKING]: _, ...annotations } = metadata.annotations ?? {}
  metadata.annotations = annotations
}

const isEmpty = (labels: Readonly<Record<string, string>> | undefined): boolean =>
  Object.keys(labels ?? {}).length === 0

/** A job without labels shares the labels object of its template, so it gets the generated labels too, as upstream. */
export function defaultLabels (job: Job): void {
  const { metadata, spec: { template: { metadata: { labels } } } } = job
  if (!unlabelled.has(job) && isEmpty(metadata.labels) && !isEmpty(labels)) metadata.labels = labels
}

/** Runs after validation, so that an invalid generated label is reported for the template only. */
export function labelJob (job: Job): void {
  unlabelled.delete(job)
  defaultLabels(job)
}

/**
 * Selects the pods by the uid of the job, unless manualSelector is set. Labels that the client set stay, for
 * validation.
 */
function generateSelector ({ metadata, spec }: Job, isPrefixed: boolean): void {
  if (spec.manualSelector === true) return
  const [uid, name] = [metadata.uid ?? '', metadata.name ?? '']
  const labels = { ...labelsOf(name, uid, isPrefixed), ...spec.template.metadata.labels }
  // Only the server knows the uid, so this is a second attempt, after the first generated name was taken.
  if (spec.template.metadata.labels?.[UID_LABEL] === uid && uid !== '') {
    Object.assign(labels, labelsOf(name, uid, isPrefixed))
  }
  // The job shares the labels of its template (`defaultLabels`).
  if (metadata.labels !== undefined && metadata.labels === spec.template.metadata.labels) metadata.labels = labels
  spec.template.metadata.labels = labels
  spec.selector = { ...spec.selector, matchLabels: { [uidLabel(isPrefixed)]: uid, ...spec.selector?.matchLabels } }
}

const uidLabel = (isPrefixed: boolean): string => isPrefixed ? LATER_UID_LABEL : UID_LABEL

function labelsOf (name: string, uid: string, isPrefixed: boolean): Record<string, string> {
  return {
    [NAME_LABEL]: name, [UID_LABEL]: uid,
    ...isPrefixed ? { [LATER_NAME_LABEL]: name, [LATER_UID_LABEL]: uid } : {}
  }
}

export function validateJob (job: Job, report: Report): void {
  const { metadata: { name = '' }, spec } = job
  const { completionMode, completions = 0, selector, template } = spec
  checkGenerated(job, report)
  validateJobSpec(spec, 'spec', report)
  if (selector === undefined) required(report, 'spec.selector')
  else validateLabelSelector(selector, 'spec.selector', report)
  if (selects(selector, template.metadata.labels) === false) mismatch(template, 'spec.template', report)
  if (completionMode === 'Indexed' && completions > 0) {
    const last = `${name}-${completions - 1}`
    if (dnsLabel(last).length > 0) {
      invalid(report, 'metadata.name', name, `will not able to create pod with invalid DNS label: ${last}`)
    }
  }
}

function checkGenerated (
  { metadata: { uid = '', name = '' }, spec: { manualSelector, selector, template } }: Job, report: Report
): void {
  if (manualSelector === true || selector === undefined) return
  if (uid === '') required(report, 'metadata.uid')
  const labels = template.metadata.labels ?? {}
  // A job of another release keeps its labels.
  const has = (label: string): boolean => Object.hasOwn(selector.matchLabels ?? {}, label)
  const isPrefixed = has(LATER_UID_LABEL) || (isOn(report, PREFIXED_SINCE) && !has(UID_LABEL))
  const generated = labelsOf(name, uid, isPrefixed)
  for (const [label, value] of Object.entries(generated)) {
    const field = `spec.template.metadata.labels[${label}]`
    if (!Object.hasOwn(labels, label)) required(report, field, `must be '${value}'`)
    else if (labels[label] !== value) invalid(report, field, labels, `must be '${value}'`)
  }
  if (selects(selector, generated) === false) {
    invalid(report, 'spec.selector', selector, '`selector` not auto-generated')
  }
}

const NUMBERS =
  ['parallelism', 'completions', 'activeDeadlineSeconds', 'backoffLimit', 'ttlSecondsAfterFinished'] as const
const MODES = ['NonIndexed', 'Indexed']
const MAX_INDEXED = 100_000
const POLICIES = ['OnFailure', 'Never']

/** For Jobs and for the template of a CronJob. */
export function validateJobSpec (spec: JobSpec, at: string, report: Report): void {
  const { completionMode, completions, parallelism = 0, template } = spec
  const { restartPolicy } = template.spec
  for (const field of NUMBERS) notNegative(report, `${at}.${field}`, spec[field])
  if (completionMode !== undefined && !MODES.includes(completionMode)) {
    notSupported(report, `${at}.completionMode`, completionMode, MODES)
  }
  if (completionMode === 'Indexed') {
    if (completions === undefined) required(report, `${at}.completions`, 'when completion mode is Indexed')
    if (parallelism > MAX_INDEXED) {
      invalid(
        report, `${at}.parallelism`, parallelism,
        `must be less than or equal to ${MAX_INDEXED} when completion mode is Indexed`
      )
    }
  }
  checkJobPolicies(spec, at, report)
  validatePart(PodTemplateSpec, template, `${at}.template`, report)
  const field = `${at}.template.spec.restartPolicy`
  // Always is the default, so it counts as unset.
  if (restartPolicy === undefined ||
    restartPolicy === 'Always') required(report, field, 'valid values: "OnFailure", "Never"')
  else if (!POLICIES.includes(restartPolicy)) notSupported(report, field, restartPolicy, POLICIES)
}

const FIXED = [
  'completions', 'selector', 'template', 'completionMode', 'podFailurePolicy', 'backoffLimitPerIndex', 'managedBy',
  'successPolicy'
] as const

export function validateJobUpdate ({ spec }: Job, before: Job, report: Report): void {
  const { spec: old } = before
  const template = isWaiting(before, report) ? withPlaceOf(spec.template, old.template, report) : spec.template
  for (const field of FIXED) {
    if (field === 'completions' && isResized(spec, report)) continue
    if (!sameValue(field === 'template' ? template : spec[field], old[field])) {
      invalid(report, `spec.${field}`, spec[field] ?? null, 'field is immutable')
    }
  }
}

const LATER_PLACE = 'MutableSchedulingDirectivesForSuspendedJobs'

/** Whether a job is suspended and has no pods: before its first start, and later whenever that has been noticed. */
function isWaiting ({ spec: { suspend }, status }: Job, report: Report): boolean {
  if (!isOn(report, 'JobMutableNodeSchedulingDirectives') || suspend !== true) return false
  if (status.startTime === undefined) return true
  return isOn(report, LATER_PLACE) && (status.active ?? 0) === 0 &&
    (status.conditions ?? []).some(({ type, status }) => type === 'Suspended' && status === 'True')
}

/** The number of completions by index may change together with that of pods. */
const isResized = ({ completionMode, completions, parallelism }: JobSpec, report: Report): boolean =>
  isOn(report, 'ElasticIndexedJob') && completionMode === 'Indexed' &&
    (completions === undefined || completions === parallelism) // without a number they are Required

/** The new template with old scheduling fields, which may change until a suspended job starts. */
function withPlaceOf (
  { metadata, spec }: PodTemplateSpec, { metadata: oldMetadata, spec: old }: PodTemplateSpec, report: Report
): PodTemplateSpec {
  const affinity = { ...spec.affinity, nodeAffinity: old.affinity?.nodeAffinity }
  return {
    metadata: { ...metadata, labels: oldMetadata.labels, annotations: oldMetadata.annotations },
    spec: {
      ...spec, affinity: Object.values(affinity).every(part => part === undefined) ? undefined : affinity,
      nodeSelector: old.nodeSelector, tolerations: old.tolerations,
      ...isOn(report, 'JobMayChangeGates') ? { schedulingGates: old.schedulingGates } : {},
      ...isOn(report, 'MutablePodResourcesForSuspendedJobs')
        ? {
            containers: withResourcesOf(spec.containers, old.containers),
            initContainers: withResourcesOf(spec.initContainers, old.initContainers)
          }
        : {}
    }
  }
}

const withResourcesOf = (
  containers: PodTemplateSpec['spec']['containers'], old: PodTemplateSpec['spec']['containers'] = []
): PodTemplateSpec['spec']['containers'] =>
  containers?.map((container, index) => ({ ...container, resources: old[index]?.resources ?? container.resources }))

export function validateJobStatus (
  { active, succeeded, failed, ready, terminating, uncountedTerminatedPods: uncounted }: JobStatus, report: Report
): void {
  for (const [field, count] of Object.entries({ active, succeeded, failed, ready, terminating })) {
    notNegative(report, `status.${field}`, count)
  }
  const seen = new Set<string>()
  for (const field of ['succeeded', 'failed'] as const) {
    uncounted?.[field]?.forEach((uid, index) => {
      const path = `status.uncountedTerminatedPods.${field}[${index}]`
      if (uid === '') invalid(report, path, uid, 'must not be empty')
      else if (seen.has(uid)) duplicate(report, path, uid)
      seen.add(uid)
    })
  }
}
