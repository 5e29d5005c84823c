/** Job (batch/v1): pods that run until enough of them have succeeded. */
import {
  age, containerColumns, milliseconds, name, selector, since, text, wideOnly, type Column
} from '../../columns.js'
import { humanDuration, type Ages } from '../../meta/duration.js'
import { int32, int64, one, bool, list, string, type Static } from '../../language/declare.js'
import { metadata } from '../../meta/object.js'
import { PodTemplateSpec } from '../core/pod-spec.js'
import { dropOfTemplate } from '../core/rules/gated-fields.js'
import { templateWarnings } from '../core/rules/pod-warnings.js'
import { LabelSelector } from '../../meta/options.js'
import { PodFailurePolicy, SuccessPolicy } from './job-policies.js'
import { kind, message } from './package.js'
import { Time } from '../../meta/scalars.js'
import { isOn, type Gates } from '../../gates.js'
import { resource } from '../../resource.js'
import { checkJobStatusChange } from './rules/job-status.js'
import {
  defaultLabels, labelJob, laterJobDefaults, prepareJob, prepareJobUpdate, validateJob, validateJobSpec,
  validateJobStatus, validateJobUpdate
} from './rules/jobs.js'
import { allWarnings, ofChanges, warnedLater, type Warn } from '../../rules/warned.js'

export type JobSpec = Static<typeof JobSpec>
export const JobSpec = message('JobSpec', 'What pods a job runs, and how often.', {
  parallelism: int32(1, 'Number of pods that may run at the same time.', { pointer: true }),
  completions: int32(2, 'Number of pods that must succeed.', { pointer: true, immutable: 'ruled' }),
  activeDeadlineSeconds: int64(3, 'Seconds the job may be active before it is ended.', { pointer: true }),
  podFailurePolicy: one(11, 'What failed pods mean for the job.', PodFailurePolicy, {
    pointer: true, immutable: 'ruled', since: '1.25'
  }),
  successPolicy: one(16, 'When the job has succeeded before all pods have.', SuccessPolicy, {
    pointer: true, immutable: 'ruled', gate: 'JobSuccessPolicy', since: '1.30'
  }),
  backoffLimit: int32(7, 'Number of retries until the job fails; by default 6.', { pointer: true }),
  backoffLimitPerIndex: int32(12, 'Number of retries of each index, in mode Indexed.', {
    pointer: true, immutable: 'ruled', gate: 'JobBackoffLimitPerIndex', since: '1.28'
  }),
  maxFailedIndexes: int32(13, 'Number of failed indexes until the job fails.', {
    pointer: true, gate: 'JobBackoffLimitPerIndex', since: '1.28'
  }),
  selector: one(4, 'Labels of the pods of the job; usually set by the system.', LabelSelector, {
    pointer: true, immutable: 'ruled'
  }),
  manualSelector: bool(5, 'Whether the selector is chosen by hand instead of generated.', { pointer: true }),
  template: one(6, 'Template of the pods the job runs.', PodTemplateSpec, {
    required: true, ruled: true, immutable: 'ruled'
  }),
  ttlSecondsAfterFinished: int32(8, 'Seconds after its end when the job is deleted.', { pointer: true }),
  completionMode: string(9, 'How successes are counted: NonIndexed or Indexed.', {
    pointer: true, immutable: 'ruled', values: ['NonIndexed', 'Indexed'], closed: 'ruled'
  }),
  suspend: bool(10, 'Whether the job pauses and has no pods.', { pointer: true }),
  podReplacementPolicy: string(14, 'When a pod is replaced: TerminatingOrFailed, or Failed once it has ended.', {
    pointer: true, values: ['TerminatingOrFailed', 'Failed'], closed: 'ruled', gate: 'JobPodReplacementPolicy',
    since: '1.28'
  }),
  managedBy: string(15, 'Controller of the job, as domain/path; by default that of the cluster.', {
    pointer: true, immutable: 'ruled', gate: 'JobManagedBy', since: '1.30'
  })
}, { validate: (spec, at, report) => { validateJobSpec(spec, at, report) } })

const MAX_INT32 = 2 ** 31 - 1

/** Jobs only: the template of a CronJob gets no defaults. */
function defaultJob (spec: JobSpec, gates: Gates): void {
  if (spec.parallelism === undefined) spec.completions ??= 1
  spec.parallelism ??= 1
  const isOfIndexes = spec.backoffLimitPerIndex !== undefined && gates.enabled('JobBackoffLimitPerIndex')
  spec.backoffLimit ??= isOfIndexes ? MAX_INT32 : 6
  spec.completionMode ??= 'NonIndexed'
  spec.suspend ??= false
}

export type JobCondition = Static<typeof JobCondition>
export const JobCondition = message('JobCondition', 'A finding about a job.', {
  type: string(1, 'Type of the condition: Complete, Failed or Suspended.', {
    required: true, mayBeEmpty: true, values: ['Suspended', 'Complete', 'Failed']
  }),
  status: string(2, 'Whether it holds: True, False or Unknown.', {
    required: true, mayBeEmpty: true, values: ['True', 'False', 'Unknown']
  }),
  lastProbeTime: one(3, 'When it was last checked.', Time),
  lastTransitionTime: one(4, 'When status last changed.', Time),
  reason: string(5, 'One word for a machine.'),
  message: string(6, 'A sentence for a person.')
})

export type UncountedTerminatedPods = Static<typeof UncountedTerminatedPods>
export const UncountedTerminatedPods =
  message('UncountedTerminatedPods', 'Ended pods that are not yet in the counts of a job.', {
    succeeded: list(1, 'UIDs of pods that succeeded.', 'string', { listType: 'set' }),
    failed: list(2, 'UIDs of pods that failed.', 'string', { listType: 'set' })
  })

export type JobStatus = Static<typeof JobStatus>
export const JobStatus = message('JobStatus', 'What is observed of a job.', {
  conditions: list(1, 'What was found about the job, such as Complete.', JobCondition, {
    listType: 'atomic', patchStrategy: 'merge', patchMergeKey: 'type'
  }),
  startTime: one(2, 'When the job was first taken up, or last resumed.', Time, { pointer: true }),
  completionTime: one(3, 'When the job completed; not set if it failed.', Time, { pointer: true }),
  active: int32(4, 'Number of pods pending or running.'),
  succeeded: int32(5, 'Number of pods that succeeded.'),
  failed: int32(6, 'Number of pods that failed.'),
  terminating: int32(11, 'Number of pods that are ending.', {
    pointer: true, gate: 'JobPodReplacementPolicy', since: '1.28'
  }),
  completedIndexes: string(7, 'Completed indexes in mode Indexed, such as 1,3-5,7.'),
  failedIndexes: string(10, 'Failed indexes, where each has its own retries.', {
    pointer: true, gate: 'JobBackoffLimitPerIndex', since: '1.28'
  }),
  uncountedTerminatedPods: one(
    8, 'Ended pods that are not yet in the counts.', UncountedTerminatedPods, { pointer: true }
  ),
  ready: int32(9, 'Number of pods that are ready.', { pointer: true })
})

export type Job = Static<typeof Job>
export const Job = kind('Job', 'Runs pods until enough of them have succeeded.', {
  metadata,
  spec: one(2, 'What pods run, and how often.', JobSpec, { ruled: true }),
  status: one(3, 'What is observed of the job; written by the system.', JobStatus)
}, {
  defaults: (job, gates) => {
    defaultJob(job.spec, gates)
    defaultLabels(job)
  },
  validate: (job, _at, report) => { validateJob(job, report) },
  validateUpdate: (job, old, _at, report) => { validateJobUpdate(job, old, report) }
})

function completions ({ spec: { completions, parallelism = 0 }, status: { succeeded = 0 } }: Job): string {
  return `${succeeded}/${completions ?? (parallelism > 1 ? `1 of ${parallelism}` : '1')}`
}

/** Until completion, or until now. */
function duration ({ status }: Job, ages: Ages): string {
  const started = milliseconds(status.startTime)
  if (started === undefined) return ''
  const completed = milliseconds(status.completionTime)
  return completed === undefined ? ages.since(started) : humanDuration(completed - started)
}

const TOLD = ['Suspended', 'FailureTarget', 'SuccessCriteriaMet']

function statusOf ({ metadata, status: { conditions = [] } }: Job): string {
  const holds = (wanted: string): boolean => conditions.some(({ type, status }) => type === wanted && status === 'True')
  const ended = ['Complete', 'Failed'].find(holds)
  if (ended !== undefined) return ended
  return metadata.deletionTimestamp === undefined ? TOLD.find(holds) ?? 'Running' : 'Terminating'
}

const columns: ReadonlyArray<Column<Job>> = [
  name,
  since('1.30', text('Status', 'Where the job stands.', statusOf)),
  text('Completions', 'How many pods have succeeded, of those that must.', completions),
  text('Duration', 'How long it took, or has been running.', duration),
  age,
  ...containerColumns<Job>(({ spec }) => spec.template.spec).map(wideOnly),
  wideOnly(text('Selector', 'Labels of the pods of the job.', ({ spec }) => selector(spec.selector)))
]

const ORPHANED_PODS =
  'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set ' +
    'propagationPolicy=Orphan to suppress this warning'

const MANY_INDEXES = 100_000
const MANY_AT_ONCE = 10_000

/** @param at path of the spec */
export function warnOfIndexes (spec: JobSpec, at: string, warn: Warn): void {
  const { completionMode, completions = 0, parallelism = 0 } = spec
  if (completionMode === 'Indexed' && completions > MANY_INDEXES && parallelism > MANY_AT_ONCE) {
    warn(`${at}: with more than ${MANY_INDEXES} completions a parallelism of more than ${MANY_AT_ONCE} makes ` +
      'a status that may grow too large')
  }
}

const jobWarnings = ofChanges(warnedLater<Job>(({ spec }, _old, warn) => { warnOfIndexes(spec, 'spec', warn) }))

export const jobs = resource(Job, {
  plural: 'jobs',
  categories: ['all'],
  namespaced: true,
  subresources: [
    {
      name: 'status', verbs: ['get', 'patch', 'update'], changes: ['status'], validateUpdate: (
        object, old, report
      ) => {
        validateJobStatus((object as Job).status, report)
        if (isOn(report, 'JobStatusFollowsRules')) checkJobStatusChange(object as Job, old as Job, report)
      }
    }
  ],
  columns,
  generation: ({ spec }) => spec,
  strategy: {
    dependents: 'orphaned', dropGated: dropOfTemplate, prepareForCreate: prepareJob, prepareForUpdate: prepareJobUpdate,
    laterDefaults: laterJobDefaults, canonicalize: labelJob,
    warnings: allWarnings(templateWarnings<Job>('spec.template', ({ spec }) => spec.template, true), jobWarnings),
    dependentsWarning: ORPHANED_PODS
  },
  selectableFields: { 'status.successful': ({ status }) => String(status.succeeded ?? 0) },
  unsupportedField: label => `field label "${label}" not supported for Job`
})
