/**
 * NodeRestriction: limits node agents to their own objects. They create mirror pods, delete and evict pods bound to
 * their node and update the status of those; they have one Node, Lease and CSINode, whose taints and protected labels
 * they must not change; and they request tokens only for accounts of their pods. Without it, a node agent could reach
 * any secret by creating a pod. (Off by default.)
 *
 * As for the Node authorizer, node agents are the users `system:node:NAME` in the group `system:nodes`.
 */
import type { Gates } from '../../schemas/gates.js'
import type { TokenRequest } from '../../schemas/api/authentication/tokenrequests.js'
import type { CertificateSigningRequest } from '../../schemas/api/certificates/certificatesigningrequests.js'
import { requestCommonName } from '../../schemas/api/certificates/pem.js'
import type { Pod } from '../../schemas/api/core/pods.js'
import type { PersistentVolumeClaim } from '../../schemas/api/core/persistentvolumeclaims.js'
import { sameValue } from '../../schemas/language/values.js'
import { notFound } from '../../schemas/status.js'
import { nodeOf } from '../../auth/node/authorizer.js'
import { MIRROR, isMirrorPod, referencesOf } from '../../auth/node/references.js'
import { typed, type AdmissionRequest, type AdmissionPlugin } from '../../registry/admission.js'
import type { AdmissionTools } from '../options.js'
import { refusal } from '../refusal.js'
import { admitAudiences } from './node-restriction-audiences.js'
import { admitNode } from './node-restriction-nodes.js'

const PODS = { group: '', resource: 'pods' }
const LEASES = 'orch-node-lease'
const quote = JSON.stringify

type Tools = Pick<AdmissionTools, 'authorize' | 'gates' | 'names'>
type Check = (request: AdmissionRequest, node: string, tools: Tools) => void | Promise<void>

/** By group and resource. */
const CHECKS: Readonly<Record<string, Check>> = {
  '/pods': admitPod,
  '/nodes': (request, node, { names, gates }) => { admitNode(request, node, names.labelDomains, gates) },
  '/persistentvolumeclaims': admitClaim,
  '/serviceaccounts': admitToken,
  'coordination.orch.io/leases': (request, node) => {
    if (request.namespace !== LEASES) {
      throw refusal(request, `can only access leases in the ${quote(LEASES)} system namespace`)
    }
    if (request.name !== node) {
      throw refusal(request, 'can only access node lease with the same name as the requesting node')
    }
  },
  'certificates.orch.io/certificatesigningrequests': admitSigningRequest,
  'resource.orch.io/resourceslices': admitSlice,
  'storage.orch.io/csinodes': (request, node) => {
    if (request.name !== node) {
      throw refusal(request, 'can only access CSINode with the same name as the requesting node')
    }
  }
}

export const nodeRestriction = ({ authorize, gates, names }: Tools): AdmissionPlugin => ({
  name: 'NodeRestriction',
  handles: ({ operation, group, resource }) => operation !== 'CONNECT' && Object.hasOwn(CHECKS, `${group}/${resource}`),
  mutate: async request => {
    const node = request.user === undefined ? undefined : nodeOf(request.user)
    if (node === undefined) return
    if (node === '') throw refusal(request, `could not determine node from user ${quote(request.user?.username)}`)
    await CHECKS[`${request.group}/${request.resource}`]?.(request, node, { authorize, gates, names })
  }
})

async function admitPod (request: AdmissionRequest, node: string, { gates }: Tools): Promise<void> {
  const { operation, subresource, object, oldObject } = typed<Pod>(request)
  const isOnNode = (pod: Pod | undefined): boolean => pod?.spec.nodeName === node
  if (subresource === '') {
    if (operation === 'CREATE' && object !== undefined) return await admitNewPod(request, object, node, gates)
    if (operation !== 'DELETE') {
      throw refusal(
        request, `unexpected operation ${quote(operation)}, node ${quote(node)} can only create and delete mirror pods`
      )
    }
    if (!isOnNode(oldObject)) {
      throw refusal(request, `node ${quote(node)} can only delete pods with spec.nodeName set to itself`)
    }
  } else if (subresource === 'status') {
    if (!isOnNode(oldObject)) {
      throw refusal(request, `node ${quote(node)} can only update pod status for pods with spec.nodeName set to itself`)
    }
    if (!sameValue(object?.metadata.labels ?? {}, oldObject?.metadata.labels ?? {})) {
      throw refusal(request, `node ${quote(node)} cannot update labels through pod status`)
    }
    for (const field of OF_SCHEDULERS) {
      if (gates.enabled('DynamicResourceAllocation') && !sameValue(object?.status[field], oldObject?.status[field])) {
        throw refusal(request, `node ${quote(node)} cannot update ${field} through pod status`)
      }
    }
  } else if (subresource === 'eviction') {
    if (!isOnNode(await podNamed(request, request.name))) {
      throw refusal(request, `node ${node} can only evict pods with spec.nodeName set to itself`)
    }
  } else {
    throw refusal(request, `unexpected pod subresource ${quote(subresource)}, only 'status' and 'eviction' are allowed`)
  }
}

/** Members of a pod's status in which schedulers and controllers name claims, which nodes may then read. */
const OF_SCHEDULERS = ['resourceClaimStatuses', 'extendedResourceClaimStatus'] as const

async function podNamed ({ reader, namespace }: AdmissionRequest, name: string): Promise<Pod> {
  const pod = await reader.get('', 'pods', namespace, name) as Pod | undefined // the resource's type
  if (pod === undefined) throw notFound(PODS, name)
  return pod
}

/** Mirror pods must not refer to objects of the server. */
async function admitNewPod (request: AdmissionRequest, pod: Pod, node: string, gates: Gates): Promise<void> {
  const refuse = (why: string): never => { throw refusal(request, `node ${quote(node)} ${why}`) }
  const { metadata: { ownerReferences: owners = [] }, spec } = pod
  if (!isMirrorPod(pod)) {
    throw refusal(
      request, `pod does not have ${quote(MIRROR)} annotation, node ${quote(node)} can only create mirror pods`
    )
  }
  if (spec.nodeName !== node) refuse('can only create pods with spec.nodeName set to itself')
  const [owner] = owners
  if (owners.length > 1) refuse('can only create pods with a single owner reference set to itself')
  if (owner?.apiVersion !== 'v1' || owner.kind !== 'Node' || owner.name !== node) {
    return refuse('can only create pods with an owner reference set to itself')
  }
  if (owner.controller !== true) refuse('can only create pods with a controller owner reference set to itself')
  if (owner.blockOwnerDeletion === true) refuse('must not set blockOwnerDeletion on an owner reference')
  const nodeObject = await request.reader.get('', 'nodes', '', node)
  if (nodeObject === undefined) throw notFound({ group: '', resource: 'nodes' }, node)
  if (owner.uid !== nodeObject.metadata.uid) {
    throw refusal(request, `node ${node} UID mismatch: expected ${owner.uid} got ${nodeObject.metadata.uid ?? ''}`)
  }

  const references = [...referencesOf(pod)]
  const refersTo = (resource: string): boolean => references.some(key => key.startsWith(`${resource}/`))
  if (refersTo('serviceaccounts')) refuse('can not create pods that reference a service account')
  if (refersTo('secrets')) refuse('can not create pods that reference secrets')
  if (refersTo('configmaps')) refuse('can not create pods that reference configmaps')
  if (refersTo('persistentvolumeclaims')) refuse('can not create pods that reference persistentvolumeclaims')
  if (!gates.enabled('NodeKeepsPodSources')) return
  const sources = (spec.volumes ?? []).flatMap(({ projected }) => projected?.sources ?? [])
  if ((spec.resourceClaims ?? []).length > 0) refuse('can not create pods that reference resourceclaims')
  if (sources.some(({ serviceAccountToken: token }) => token !== undefined)) {
    refuse('can not create pods that reference service account tokens')
  }
}

/** Node agents may only report the result of a volume expansion. */
function admitClaim (request: AdmissionRequest, node: string, { gates }: Tools): void {
  if (request.subresource !== 'status') throw refusal(request, 'may only update PVC status')
  if (request.operation !== 'UPDATE') throw refusal(request, `unexpected operation ${quote(request.operation)}`)
  const { object, oldObject } = typed<PersistentVolumeClaim>(request)
  const recovers = gates.enabled('RecoverVolumeExpansionFailure')
  if (object === undefined || oldObject === undefined ||
    !sameValue(withoutGrowth(object, recovers), withoutGrowth(oldObject, recovers))) {
    throw refusal(
      request, `node ${quote(node)} is not allowed to update fields other than status.capacity and status.conditions`
    )
  }
}

/** @param recovers whether nodes report how an expansion failed */
function withoutGrowth (claim: PersistentVolumeClaim, recovers: boolean): unknown {
  const {
    metadata: { resourceVersion, managedFields, ...metadata },
    status: { capacity, conditions, allocatedResources, resizeStatus, allocatedResourceStatuses, ...status }, ...others
  } = claim
  return {
    ...others, metadata, status: recovers
      ? status
      : { ...status, allocatedResources, resizeStatus, allocatedResourceStatuses }
  }
}

/** Tokens must be bound to pods of the node. */
async function admitToken (request: AdmissionRequest, node: string, { gates, authorize }: Tools): Promise<void> {
  if (request.operation !== 'CREATE' || request.subresource !== 'token') return
  const { boundObjectRef: bound, audiences } = typed<TokenRequest>(request).object?.spec ?? {}
  if (bound?.apiVersion !== 'v1' || bound.kind !== 'Pod' || !bound.name) {
    throw refusal(request, 'node requested token not bound to a pod')
  }
  if (!bound.uid) throw refusal(request, 'node requested token with a pod binding without a uid')
  const pod = await podNamed(request, bound.name)
  if (pod.metadata.uid !== bound.uid) {
    throw refusal(
      request,
      `the UID in the bound object reference (${bound.uid}) does not match the UID in record. The object might have ` +
        'been deleted and then recreated'
    )
  }
  if (pod.spec.nodeName !== node) {
    throw refusal(request, 'node requested token bound to a pod scheduled on a different node')
  }
  if (gates.enabled('ServiceAccountNodeAudienceRestriction')) {
    await admitAudiences(request, audiences ?? [], pod, authorize)
  }
}

/** Certificates with which node agents serve, and act as clients. */
const NODE_SIGNERS: ReadonlySet<string> = new Set([
  'orch.io/orch-apiserver-client-node-agent', 'orch.io/node-agent-serving'
])

/** A node agent gets certificates of its own node only. */
function admitSigningRequest (request: AdmissionRequest, node: string, { gates }: Tools): void {
  if (request.operation !== 'CREATE' || request.subresource !== '' || !gates.enabled('NodeKeepsOwnCertificate') ||
    gates.enabled('AllowInsecureKubeletCertificateSigningRequests')) return
  const { signerName = '', request: pem = '' } = typed<CertificateSigningRequest>(request).object?.spec ?? {}
  if (!NODE_SIGNERS.has(signerName)) return
  const own = `system:node:${node}`
  let name
  try {
    name = requestCommonName(Buffer.from(pem, 'base64').toString())
  } catch {
    throw refusal(request, 'unable to parse csr')
  }
  if (name !== own) {
    throw refusal(request, `can only create a node CSR with CN=${own}, not ${quote(name)}`)
  }
}

function admitSlice (request: AdmissionRequest, node: string): void {
  const { operation, object, oldObject } = request
  const { nodeName } = ((operation === 'DELETE' ? oldObject : object)?.['spec'] ?? {}) as { nodeName?: unknown }
  if ((operation === 'CREATE' || operation === 'DELETE') && nodeName !== node) {
    throw refusal(
      request, `can only ${operation.toLowerCase()} ResourceSlice with the same NodeName as the requesting node`
    )
  }
}
