/**
 * Priority: sets priority and preemption policy of a pod from its class or the default class, and refuses other values.
 * At most one class is the default. (Enabled by default.)
 */
import type { Pod } from '../../schemas/api/core/pods.js'
import type { PriorityClass } from '../../schemas/api/scheduling/priorityclasses.js'
import { typed, type AdmissionReader, type TypedRequest, type AdmissionPlugin } from '../../registry/admission.js'
import { refusal } from '../refusal.js'

const GROUP = 'scheduling.orch.io'
const CLASSES = 'priorityclasses'

export const priority: AdmissionPlugin = {
  name: 'Priority',
  handles: [{ operations: ['CREATE', 'UPDATE'], groups: [''], resources: ['pods'] }, {
    operations: ['CREATE', 'UPDATE'], groups: [GROUP], resources: [CLASSES]
  }],
  mutate: async request => {
    if (request.resource !== 'pods') return
    const pod = typed<Pod>(request)
    if (request.operation === 'CREATE') await resolve(pod)
    else keepOmitted(pod)
  },
  validate: async request => {
    if (request.resource === CLASSES) await refuseSecondDefault(typed<PriorityClass>(request))
  }
}

/** Keeps fields that older clients omit. */
function keepOmitted ({ object, oldObject }: TypedRequest<Pod>): void {
  if (object === undefined || oldObject === undefined) return
  const { priority, preemptionPolicy } = oldObject.spec
  if (priority !== undefined) object.spec.priority ??= priority
  if (preemptionPolicy !== undefined) object.spec.preemptionPolicy ??= preemptionPolicy
}

async function resolve (request: TypedRequest<Pod>): Promise<void> {
  if (request.object === undefined) return
  const { spec } = request.object
  const { priorityClassName: name = '' } = spec
  // the resource's type
  const priorityClass = name === ''
    ? await defaultClass(request.reader)
    : await request.reader.get(GROUP, CLASSES, '', name) as PriorityClass | undefined
  if (name !== '' && priorityClass === undefined) throw refusal(request, `no PriorityClass with name ${name} was found`)
  if (name === '' && priorityClass?.metadata.name !== undefined) spec.priorityClassName = priorityClass.metadata.name
  const value = priorityClass?.value ?? 0
  if (spec.priority !== undefined && spec.priority !== value) {
    throw refusal(
      request,
      `the integer value of priority (${spec.priority}) must not be provided in pod spec; priority admission ` +
        `controller computed ${value} from the given PriorityClass name`
    )
  }
  spec.priority = value
  const policy = priorityClass === undefined ? 'PreemptLowerPriority' : priorityClass.preemptionPolicy
  if (policy === undefined) return
  if (spec.preemptionPolicy !== undefined && spec.preemptionPolicy !== policy) {
    throw refusal(
      request,
      `the string value of PreemptionPolicy (${spec.preemptionPolicy}) must not be provided in pod spec; priority ` +
        `admission controller computed ${policy} from the given PriorityClass name`
    )
  }
  spec.preemptionPolicy = policy
}

/** The lowest, if several were created concurrently. */
async function defaultClass (reader: AdmissionReader): Promise<PriorityClass | undefined> {
  const all = await reader.list(GROUP, CLASSES, '') as PriorityClass[] // the resource's type
  return all.filter(({ globalDefault }) => globalDefault === true).sort((one, other) => one.value - other.value)[0]
}

async function refuseSecondDefault (request: TypedRequest<PriorityClass>): Promise<void> {
  const { object, operation, reader } = request
  if (object?.globalDefault !== true) return
  const name = (await defaultClass(reader))?.metadata.name
  if (name === undefined || (operation === 'UPDATE' && name === object.metadata.name)) return
  throw refusal(request, `PriorityClass ${name} is already marked as default. Only one default can exist`)
}
