/** PriorityClass (v1): a named scheduling priority for pods. */
import { age, flag, integer, name, since, text, type Column } from '../../columns.js'
import { int32, bool, string, apiPackage, type Report, type Static } from '../../language/declare.js'
import { metadata, type ObjectMeta } from '../../meta/object.js'
import { resource } from '../../resource.js'
import { forbidden, invalid, notSupported, required } from '../../rules/findings.js'

const { kind } = apiPackage('scheduling.orch.io', 'v1', 'io.orch.api.scheduling.v1')

export type PriorityClass = Static<typeof PriorityClass>
export const PriorityClass = kind('PriorityClass', 'A name for a priority that pods may have.', {
  metadata,
  value: int32(2, 'The priority; higher goes first; does not change.', { required: true, immutable: 'ruled' }),
  globalDefault: bool(3, 'Whether pods without a priority class get this one.'),
  description: string(4, 'When to use the class, for a person.'),
  preemptionPolicy: string(5, 'Whether pods of lower priority are evicted: PreemptLowerPriority or Never.', {
    pointer: true, immutable: 'ruled', values: ['PreemptLowerPriority', 'Never'], closed: true, ruled: true,
    default: 'PreemptLowerPriority'
  })
}, {
  validateCreate: (object, _at, report) => { validateNew(object, report) },
  validateUpdate: ({ value, preemptionPolicy: policy }, old, _at, report) => {
    if (value !== old.value) forbidden(report, 'value', 'may not be changed in an update.')
    if (policy !== old.preemptionPolicy) invalid(report, 'preemptionPolicy', policy, 'field is immutable')
  }
})

const SYSTEM_PREFIX = 'system-'
const SYSTEM_CLASSES: Readonly<Record<string, number>> = {
  'system-node-critical': 2_000_001_000, 'system-cluster-critical': 2_000_000_000
}
const HIGHEST = 1_000_000_000
const POLICIES = ['PreemptLowerPriority', 'Never']

interface New {
  readonly metadata: ObjectMeta, readonly value: number, readonly globalDefault?: boolean | undefined,
  readonly preemptionPolicy?: string | undefined
}

/** System classes have fixed values; all others have lower ones. */
function validateNew (
  { metadata: { name = '' }, value, globalDefault, preemptionPolicy: policy }: New, report: Report
): void {
  if (name.startsWith(SYSTEM_PREFIX)) {
    const own = SYSTEM_CLASSES[name]
    const why = own === undefined
      ? `${name} is not a known system priority class`
      : own !== value
        ? `value of ${name} PriorityClass must be ${own}`
        : globalDefault === true
          ? `globalDefault of ${name} PriorityClass must be false`
          : undefined
    if (why !== undefined) {
      forbidden(
        report, 'metadata.name',
        `priority class names with '${SYSTEM_PREFIX}' prefix are reserved for system use only. error: ${why}`
      )
    }
  } else if (value > HIGHEST) {
    forbidden(report, 'value', `maximum allowed value of a user defined priority is ${HIGHEST}`)
  }
  if (policy === '') required(report, 'preemptionPolicy')
  else if (policy !== undefined && !POLICIES.includes(policy)) {
    notSupported(report, 'preemptionPolicy', policy, POLICIES)
  }
}

const columns: ReadonlyArray<Column<PriorityClass>> = [
  name,
  integer('Value', 'The priority.', ({ value }) => value),
  flag('Global-Default', 'Whether pods without a priority class get this one.', ({ globalDefault }) => globalDefault),
  age,
  since('1.31', text('PreemptionPolicy', 'Whether pods of lower priority are evicted.', ({ preemptionPolicy }) =>
    preemptionPolicy))
]

export const priorityClasses = resource(PriorityClass, {
  plural: 'priorityclasses',
  shortNames: ['pc'],
  namespaced: false,
  notOnUpdate: ['generateName', 'fields'],
  generation: () => undefined, // always 1
  strategy: {
    undeletable: name =>
      Object.hasOwn(SYSTEM_CLASSES, name) ? 'this is a system priority class and cannot be deleted' : undefined
  },
  columns
})
