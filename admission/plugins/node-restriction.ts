/**
 * NodeRestriction: a node agent changes only what is its own. It makes mirror pods of what it runs and deletes, evicts and tells of
 * pods that are bound to it; it has one Node, Lease and CSINode, whose taints and protected labels it leaves alone, and tokens
 * only of accounts whose pods it runs. Without it, a node agent reaches any secret by a pod of its own making. (Off by default.)
 *
 * Who is a node agent says the Node authorizer: the user `system:node:NAME` in the group `system:nodes`.
 */
import type { TokenRequest } from '../../schemas/api/authentication/tokenrequests.js'
import type { Pod } from '../../schemas/api/core/pods.js'
import type { PersistentVolumeClaim } from '../../schemas/api/core/persistentvolumeclaims.js'
import { sameValue } from '../../schemas/index.js'
import { notFound } from '../../schemas/status.js'
import { nodeOf } from '../../auth/node/authorizer.js'
import { MIRROR, isMirrorPod, referencesOf } from '../../auth/node/references.js'
import { typed } from '../../registry/admission.js'
import type { AdmissionPlugin, AdmissionRequest } from '../../registry/admission.js'
import { refusal } from '../refusal.js'
import { admitNode } from './node-restriction-nodes.js'

const PODS = { group: '', resource: 'pods' }
const LEASES = 'orch-node-lease'
const quoted = JSON.stringify

type Check = (request: AdmissionRequest, node: string) => void | Promise<void>

/** By group and resource. */
const CHECKS: Readonly<Record<string, Check>> = {
  '/pods': admitPod,
  '/nodes': admitNode,
  '/persistentvolumeclaims': admitClaim,
  '/serviceaccounts': admitToken,
  'coordination.orch.io/leases': (request, node) => {
    if (request.namespace !== LEASES) throw refusal(request, `can only access leases in the ${quoted(LEASES)} system namespace`)
    if (request.name !== node) throw refusal(request, 'can only access node lease with the same name as the requesting node')
  },
  'storage.orch.io/csinodes': (request, node) => {
    if (request.name !== node) throw refusal(request, 'can only access CSINode with the same name as the requesting node')
  }
}

export const nodeRestriction: AdmissionPlugin = {
  name: 'NodeRestriction',
  handles: ({ operation, group, resource }) => operation !== 'CONNECT' && Object.hasOwn(CHECKS, `${group}/${resource}`),
  mutate: async request => {
    const node = request.user === undefined ? undefined : nodeOf(request.user)
    if (node === undefined) return
    if (node === '') throw refusal(request, `could not determine node from user ${quoted(request.user?.username)}`)
    await CHECKS[`${request.group}/${request.resource}`]?.(request, node)
  }
}

async function admitPod (request: AdmissionRequest, node: string): Promise<void> {
  const { operation, subresource, object, oldObject } = typed<Pod>(request)
  const isOwn = (pod: Pod | undefined): boolean => pod?.spec.nodeName === node
  if (subresource === '') {
    if (operation === 'CREATE' && object !== undefined) return await admitNewPod(request, object, node)
    if (operation !== 'DELETE') throw refusal(request, `unexpected operation ${quoted(operation)}, node ${quoted(node)} can only create and delete mirror pods`)
    if (!isOwn(oldObject)) throw refusal(request, `node ${quoted(node)} can only delete pods with spec.nodeName set to itself`)
  } else if (subresource === 'status') {
    if (!isOwn(oldObject)) throw refusal(request, `node ${quoted(node)} can only update pod status for pods with spec.nodeName set to itself`)
    if (!sameValue(object?.metadata.labels ?? {}, oldObject?.metadata.labels ?? {})) throw refusal(request, `node ${quoted(node)} cannot update labels through pod status`)
  } else if (subresource === 'eviction') {
    if (!isOwn(await podNamed(request, request.name))) throw refusal(request, `node ${node} can only evict pods with spec.nodeName set to itself`)
  } else {
    throw refusal(request, `unexpected pod subresource ${quoted(subresource)}, only 'status' and 'eviction' are allowed`)
  }
}

async function podNamed ({ reader, namespace }: AdmissionRequest, name: string): Promise<Pod> {
  const pod = await reader.get('', 'pods', namespace, name) as Pod | undefined // of its type
  if (pod === undefined) throw notFound(PODS, name)
  return pod
}

/** What it runs by itself needs nothing of the server. */
async function admitNewPod (request: AdmissionRequest, pod: Pod, node: string): Promise<void> {
  const refuse = (why: string): never => { throw refusal(request, `node ${quoted(node)} ${why}`) }
  const { metadata: { ownerReferences: owners = [] }, spec } = pod
  if (!isMirrorPod(pod)) throw refusal(request, `pod does not have ${quoted(MIRROR)} annotation, node ${quoted(node)} can only create mirror pods`)
  if (spec.nodeName !== node) refuse('can only create pods with spec.nodeName set to itself')
  const [owner] = owners
  if (owners.length > 1) refuse('can only create pods with a single owner reference set to itself')
  if (owner?.apiVersion !== 'v1' || owner.kind !== 'Node' || owner.name !== node) return refuse('can only create pods with an owner reference set to itself')
  if (owner.controller !== true) refuse('can only create pods with a controller owner reference set to itself')
  if (owner.blockOwnerDeletion === true) refuse('must not set blockOwnerDeletion on an owner reference')
  const known = await request.reader.get('', 'nodes', '', node)
  if (known === undefined) throw notFound({ group: '', resource: 'nodes' }, node)
  if (owner.uid !== known.metadata.uid) throw refusal(request, `node ${node} UID mismatch: expected ${owner.uid} got ${known.metadata.uid ?? ''}`)

  const references = [...referencesOf(pod)]
  const refersTo = (resource: string): boolean => references.some(key => key.startsWith(`${resource}/`))
  if (refersTo('serviceaccounts')) refuse('can not create pods that reference a service account')
  if (refersTo('secrets')) refuse('can not create pods that reference secrets')
  if (refersTo('configmaps')) refuse('can not create pods that reference configmaps')
  if (refersTo('persistentvolumeclaims')) refuse('can not create pods that reference persistentvolumeclaims')
}

/** Nodes that have grown a volume say so, and nothing else. */
function admitClaim (request: AdmissionRequest, node: string): void {
  if (request.subresource !== 'status') throw refusal(request, 'may only update PVC status')
  if (request.operation !== 'UPDATE') throw refusal(request, `unexpected operation ${quoted(request.operation)}`)
  const { object, oldObject } = typed<PersistentVolumeClaim>(request)
  if (object === undefined || oldObject === undefined || !sameValue(withoutGrowth(object), withoutGrowth(oldObject))) {
    throw refusal(request, `node ${quoted(node)} is not allowed to update fields other than status.capacity and status.conditions`)
  }
}

function withoutGrowth (claim: PersistentVolumeClaim): unknown {
  const { metadata: { resourceVersion, managedFields, ...metadata }, status: { capacity, conditions, ...status }, ...others } = claim
  return { ...others, metadata, status }
}

/** Tokens are for pods that run on the node. */
async function admitToken (request: AdmissionRequest, node: string): Promise<void> {
  if (request.operation !== 'CREATE' || request.subresource !== 'token') return
  const { boundObjectRef: bound } = (request.object as unknown as TokenRequest).spec // what is posted there
  if (bound?.apiVersion !== 'v1' || bound.kind !== 'Pod' || !bound.name) throw refusal(request, 'node requested token not bound to a pod')
  if (!bound.uid) throw refusal(request, 'node requested token with a pod binding without a uid')
  const pod = await podNamed(request, bound.name)
  if (pod.metadata.uid !== bound.uid) throw refusal(request, `the UID in the bound object reference (${bound.uid}) does not match the UID in record. The object might have been deleted and then recreated`)
  if (pod.spec.nodeName !== node) throw refusal(request, 'node requested token bound to a pod scheduled on a different node')
}
