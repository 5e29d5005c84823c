/** Binding, posted to a pod or on its own: a scheduler assigns the pod to a node, permanently. */
import { Binding } from '../../schemas/api/core/bindings.js'
import type { Pod } from '../../schemas/api/core/pods.js'
import type { Gates } from '../../schemas/gates.js'
import { now } from '../../registry/write-context.js'
import { sameValue } from '../../schemas/language/values.js'
import { Status } from '../../schemas/meta/v1.js'
import { badRequest, conflict, invalid, noName, notFound, type FieldError } from '../../schemas/status.js'
import { changeUnowned } from '../../registry/verbs/change.js'
import { requireUid } from '../../registry/stages/identity.js'
import { admit } from '../../registry/stages/admit.js'
import { OtherWrite } from '../../registry/stages/write.js'
import type { VirtualOperation, ResourceRegistry } from '../../registry/resource-registry.js'

const BINDING = { group: '', resource: 'pods/binding' }

export const podBinding = (resources: ResourceRegistry): VirtualOperation => ({
  message: Binding,
  answer: Status,
  run: async (object, { namespace, name: named, subresource = '' }, context) => {
    const binding = object as Binding // decoded by its message
    const name = named === '' ? binding.metadata.name ?? '' : named
    const store = resources.find('', 'pods')
    if (store === undefined) throw notFound({ group: '', resource: 'pods' }, name)
    // A binding posted to a pod was already admitted by the route.
    if (subresource === '') check(binding, name)
    else {
      const write = { store, target: { namespace, name, subresource }, context }
      await admit(new OtherWrite(write, 'CREATE', binding, binding.kind), () => { check(binding, name) })
    }
    if (name === '') throw noName()
    const target = { namespace, name, subresource: 'binding' }
    await changeUnowned(store, target, context, (base, old) => {
      requireUid(binding, old, target, store.resource)
      const pod = base.copy() as Pod // from the store of pods
      bind(pod, binding, now(store), store.gates)
      return pod
    })
    return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 }
  }
})

/** @throws StatusError 400, 422 */
function check (binding: Binding, name: string): void {
  if ((binding.metadata.name ?? '') !== name) throw badRequest('name in URL does not match name in Binding object')
  const errors = findings(binding)
  if (errors.length > 0) throw invalid({ group: '', kind: 'Binding' }, name, errors)
}

function findings ({ target: { kind = '', name = '' } }: Binding): FieldError[] {
  const problems: FieldError[] = []
  if (kind !== '' && kind !== 'Node') {
    problems.push({
      type: 'FieldValueNotSupported', field: 'target.kind', value: kind, detail: 'supported values: "Node", "<empty>"'
    })
  }
  if (name === '') problems.push({ type: 'FieldValueRequired', field: 'target.name', detail: '' })
  return problems
}

function bind (
  pod: Pod, { metadata: { resourceVersion, annotations, labels }, target }: Binding, time: string, gates: Gates
): void {
  const name = pod.metadata.name ?? ''
  if (pod.metadata.deletionTimestamp !== undefined) {
    throw conflict(BINDING, name, `pod ${name} is being deleted, cannot be assigned to a host`)
  }
  if (pod.spec.nodeName) {
    throw conflict(BINDING, name, `pod ${name} is already assigned to node ${JSON.stringify(pod.spec.nodeName)}`)
  }
  if ((pod.spec.schedulingGates ?? []).length > 0) {
    throw conflict(BINDING, name, `pod ${name} has non-empty .spec.schedulingGates`)
  }
  // The binding's resourceVersion is the precondition.
  if (resourceVersion === undefined) delete pod.metadata.resourceVersion
  else pod.metadata.resourceVersion = resourceVersion
  pod.spec.nodeName = target.name
  if (annotations !== undefined) pod.metadata.annotations = { ...pod.metadata.annotations, ...annotations }
  if (labels !== undefined && gates.enabled('PodTopologyLabelsAdmission')) {
    pod.metadata.labels = { ...pod.metadata.labels, ...labels }
  }
  if (gates.enabled('ClearingNominatedNodeNameAfterBinding')) delete pod.status.nominatedNodeName
  setScheduled(pod, time)
}

function setScheduled ({ status }: Pod, time: string): void {
  const others = status.conditions ?? []
  const known = others.find(({ type }) => type === 'PodScheduled')
  const condition = { type: 'PodScheduled', status: 'True' }
  const since = known?.status === 'True' ? known.lastTransitionTime : time
  const scheduled = since === undefined ? condition : { ...condition, lastTransitionTime: since }
  if (known === undefined) status.conditions = [...others, scheduled]
  else if (!sameValue(known, scheduled)) status.conditions = others.map(entry => entry === known ? scheduled : entry)
}
