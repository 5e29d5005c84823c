/** Validation of job status: what release 1.36 requires of a change besides. */
import type { Report } from '../../../language/declare.js'
import { sameValue } from '../../../language/values.js'
import { invalid, required } from '../../../rules/findings.js'
import type { Job, JobSpec, JobStatus } from '../jobs.js'
import { countIndexes, firstCommonIndex } from './indexes.js'

const holds = ({ conditions = [] }: JobStatus, type: string, value: 'True' | 'False' = 'True'): boolean =>
  conditions.some(({ type: other, status }) => other === type && status === value)
const isFinished = (status: JobStatus): boolean => holds(status, 'Complete') || holds(status, 'Failed')

/** What rules are about. */
const ASPECTS = {
  complete: (status: JobStatus) => holds(status, 'Complete'),
  failed: (status: JobStatus) => holds(status, 'Failed'),
  failing: (status: JobStatus) => holds(status, 'FailureTarget'),
  succeeding: (status: JobStatus) => holds(status, 'SuccessCriteriaMet'),
  finished: isFinished,
  active: ({ active }: JobStatus) => active ?? 0,
  ready: ({ ready }: JobStatus) => ready,
  terminating: ({ terminating }: JobStatus) => terminating,
  uncounted: ({ uncountedTerminatedPods }: JobStatus) => uncountedTerminatedPods,
  failedIndexes: ({ failedIndexes }: JobStatus) => failedIndexes,
  startTime: ({ startTime }: JobStatus) => startTime,
  completionTime: ({ completionTime }: JobStatus) => completionTime
} as const

interface Rule {
  /** The rule is for changes of one of these, and else what stands stays; without them it always holds. */
  readonly of?: ReadonlyArray<keyof typeof ASPECTS>
  readonly breaks: (status: JobStatus, spec: JobSpec) => boolean
  readonly tell: (status: JobStatus, report: Report) => void
}

const noSuch = (field: keyof JobStatus, detail: string): Rule['tell'] => (status, report) => {
  invalid(report, `status.${field}`, status[field] ?? null, detail)
}
const missing = (field: keyof JobStatus, detail: string): Rule['tell'] => (_status, report) => {
  required(report, `status.${field}`, detail)
}

const RULES: readonly Rule[] = [
  {
    of: ['complete', 'failed'],
    breaks: status => holds(status, 'Complete') && holds(status, 'Failed'),
    tell: noSuch('conditions', 'cannot set Complete=True and Failed=true conditions')
  },
  {
    of: ['complete', 'failing'],
    breaks: status => holds(status, 'Complete') && holds(status, 'FailureTarget'),
    tell: noSuch('conditions', 'cannot set Complete=True and FailureTarget=true conditions')
  },
  {
    of: ['complete', 'completionTime'],
    breaks: status => !holds(status, 'Complete') && status.completionTime !== undefined,
    tell: noSuch('completionTime', 'cannot set completionTime when there is no Complete=True condition')
  },
  {
    of: ['complete', 'completionTime'],
    breaks: status => holds(status, 'Complete') && status.completionTime === undefined,
    tell: missing('completionTime', 'completionTime is required for Complete jobs')
  },
  {
    of: ['startTime', 'completionTime'],
    breaks: ({ completionTime, startTime }) => completionTime !== undefined && startTime !== undefined &&
      Date.parse(completionTime) < Date.parse(startTime),
    tell: noSuch('completionTime', 'completionTime cannot be set before startTime')
  },
  {
    of: ['failed', 'failedIndexes'], // as upstream
    breaks: status => holds(status, 'Failed') && !holds(status, 'FailureTarget'),
    tell: noSuch('conditions', 'cannot set Failed=True condition without the FailureTarget=true condition')
  },
  {
    of: ['complete', 'succeeding'],
    breaks: status => holds(status, 'Complete') && !holds(status, 'SuccessCriteriaMet'),
    tell: noSuch('conditions', 'cannot set Complete=True condition without the SuccessCriteriaMet=true condition')
  },
  {
    of: ['finished', 'active'],
    breaks: status => isFinished(status) && (status.active ?? 0) > 0,
    tell: noSuch('active', 'active>0 is invalid for finished job')
  },
  {
    of: ['finished', 'startTime'],
    breaks: (status, { suspend, completions }) => isFinished(status) && status.startTime === undefined &&
      !(suspend === true && completions === 0), // it is finished without a start
    tell: missing('startTime', 'startTime is required for finished job')
  },
  {
    of: ['finished', 'uncounted'],
    breaks: status => isFinished(status) &&
      [status.uncountedTerminatedPods?.failed, status.uncountedTerminatedPods?.succeeded].some(uids =>
        (uids ?? []).length > 0),
    tell: noSuch('uncountedTerminatedPods', 'uncountedTerminatedPods needs to be empty for finished job')
  },
  {
    of: ['finished', 'terminating'],
    breaks: status => isFinished(status) && (status.terminating ?? 0) > 0,
    tell: noSuch('terminating', 'terminating>0 is invalid for finished job')
  },
  {
    of: ['ready', 'active'],
    breaks: ({ ready, active = 0 }) => ready !== undefined && ready > active,
    tell: noSuch('ready', 'cannot set more ready pods than active')
  },
  {
    breaks: status => holds(status, 'Failed') && holds(status, 'SuccessCriteriaMet'),
    tell: noSuch('conditions', 'cannot set Failed=True and SuccessCriteriaMet=true conditions')
  },
  {
    breaks: status => holds(status, 'SuccessCriteriaMet') && holds(status, 'FailureTarget'),
    tell: noSuch('conditions', 'cannot set SuccessCriteriaMet=True and FailureTarget=true conditions')
  },
  {
    breaks: (status, { successPolicy }) => successPolicy !== undefined && holds(status, 'Complete') &&
      !holds(status, 'SuccessCriteriaMet'),
    tell: noSuch('conditions', 'a job with a success policy completes only with SuccessCriteriaMet=True')
  }
]

function hasChanged ({ of }: Rule, status: JobStatus, old: JobStatus): boolean {
  return of?.some(aspect => !sameValue(ASPECTS[aspect](status), ASPECTS[aspect](old))) ?? true
}

/** Counts of indexes, in fields that the update changes. */
function checkIndexes (spec: JobSpec, status: JobStatus, old: JobStatus, report: Report): void {
  const { completedIndexes = '', failedIndexes } = status
  const [completedChange, failedChange] = [
    completedIndexes !== (old.completedIndexes ?? ''), failedIndexes !== old.failedIndexes
  ]
  if (completedChange) checkFormat('completedIndexes', completedIndexes, spec, report)
  if (failedChange && spec.backoffLimitPerIndex !== undefined) {
    checkFormat('failedIndexes', failedIndexes ?? '', spec, report)
  }
  if (completedChange && completedIndexes !== '' && spec.completionMode !== 'Indexed') {
    invalid(
      report, 'status.completedIndexes', completedIndexes,
      'cannot set non-empty completedIndexes when non-indexed completion mode'
    )
  }
  if (failedChange && failedIndexes !== undefined && spec.backoffLimitPerIndex === undefined) {
    invalid(
      report, 'status.failedIndexes', failedIndexes,
      'cannot set non-null failedIndexes when backoffLimitPerIndex is null'
    )
  }
  const common = (completedChange || failedChange) && failedIndexes !== undefined && spec.completions !== undefined
    ? firstCommonIndex(completedIndexes, failedIndexes, spec.completions)
    : undefined
  if (common !== undefined) {
    const detail = `failedIndexes and completedIndexes overlap at index: ${common}`
    invalid(report, 'status.failedIndexes', failedIndexes, detail)
  }
}

function checkFormat (
  field: 'completedIndexes' | 'failedIndexes', text: string, { completions }: JobSpec, report: Report
): void {
  if (completions === undefined) return
  const fault = countIndexes(text, completions)
  if (typeof fault === 'string') invalid(report, `status.${field}`, text, `error parsing ${field}: ${fault}`)
}

/** Conditions that stay once they are true. */
const FINAL = ['Complete', 'Failed', 'SuccessCriteriaMet', 'FailureTarget']

export function checkJobStatusChange ({ spec, status }: Job, { status: old }: Job, report: Report): void {
  for (const rule of RULES) {
    if (rule.breaks(status, spec) && hasChanged(rule, status, old)) rule.tell(status, report)
  }
  for (const type of FINAL) {
    if (holds(old, type) && !holds(status, type)) {
      invalid(
        report, 'status.conditions', status.conditions ?? null, `cannot disable the terminal ${type}=True condition`
      )
    }
  }
  const { completionTime, startTime } = status
  if (completionTime !== undefined && old.completionTime !== undefined && completionTime !== old.completionTime) {
    invalid(report, 'status.completionTime', completionTime, 'completionTime cannot be mutated')
  }
  if (holds(old, 'Complete') && !holds(old, 'SuccessCriteriaMet') && holds(status, 'SuccessCriteriaMet')) {
    invalid(report, 'status.conditions', status.conditions, 'cannot set SuccessCriteriaMet=True for Complete jobs')
  }
  if ((status.failed ?? 0) < (old.failed ?? 0)) {
    invalid(report, 'status.failed', status.failed ?? 0, 'cannot decrease the failed counter')
  }
  // An Indexed job that is made smaller forgets the indexes that it no longer has.
  const mayShrink = spec.completionMode === 'Indexed' && spec.completions === spec.parallelism
  if (!mayShrink && (status.succeeded ?? 0) < (old.succeeded ?? 0)) {
    invalid(report, 'status.succeeded', status.succeeded ?? 0, 'cannot decrease the succeeded counter')
  }
  checkIndexes(spec, status, old, report)
  const isResumed = holds(old, 'Suspended') && holds(status, 'Suspended', 'False')
  if (spec.suspend !== true && old.startTime !== undefined && startTime !== old.startTime && !isResumed) {
    required(report, 'status.startTime', 'the start of a job that is not suspended cannot change')
  }
}
