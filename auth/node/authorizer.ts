/**
 * The mode Node: a node agent, `system:node:NAME` in the group `system:nodes`, has the permissions of the role
 * system:node. Secrets, config maps, claims, volumes, attachments and tokens are limited to those that pods bound to
 * its node refer to, leases and CSINodes to its own. All else gets NoOpinion, so that other modes may allow it.
 * (Interface: Authorization flags.)
 */
import type { PersistentVolume } from '../../schemas/api/core/persistentvolumes.js'
import type { Pod } from '../../schemas/api/core/pods.js'
import type { ResourceSlice } from '../../schemas/api/resource/v1.js'
import type { VolumeAttachment } from '../../schemas/api/storage/volumeattachments.js'
import type { Attributes, Authorizer, Rules, Ruling } from '../authorizer.js'
import { notLoaded } from '../refusal.js'
import type { RequestInfo } from '../request-info.js'
import type { UserInfo } from '../../schemas/meta/user-info.js'
import type { Follow, Followed, FollowedResource, ObjectName } from '../follow.js'
import { DEFAULT_GATES, type Gates } from '../../schemas/gates.js'
import { clusterRolesOf } from '../rbac/defaults/index.js'
import { parseRule, ruleAllows, type Rule } from '../rbac/rules.js'
import type { ApiObject } from '../../schemas/meta/api-object.js'
import { NodeGraph } from './graph.js'
import { ALLOW, noOpinion, ownCSINode, ownLease, ownNode, selectsNode } from './own-objects.js'
import { keyOf, type ReferredResource } from './references.js'

const GROUP = 'system:nodes'
const PREFIX = 'system:node:'
const STORAGE = 'storage.orch.io'
const DEVICES = 'resource.orch.io'

const NO_OPINION: Ruling = { decision: 'NoOpinion', reason: '' }

const READS: ReadonlySet<string> = new Set(['get', 'list', 'watch'])
const SELECTS: ReadonlySet<string> = new Set(['list', 'watch', 'deletecollection'])
const STATUS: ReadonlySet<string> = new Set(['update', 'patch'])

/** The name of the node, '' for a node agent without one, undefined for other users. */
export function nodeOf ({ username, groups }: UserInfo): string | undefined {
  if (!username.startsWith(PREFIX)) return undefined
  return groups.includes(GROUP) ? username.slice(PREFIX.length) : undefined
}

export interface NodeAuthorizerOptions {
  /** Default those of the interface's release. */
  readonly gates?: Pick<Gates, 'enabled'>
  readonly follow: Follow
  /** Receives each change of the graph and its duration in seconds. */
  readonly observe?: (action: GraphAction, seconds: number) => void
}

export type GraphAction = 'AddPod' | 'DeletePod' | 'AddPV' | 'DeletePV' | 'AddVolumeAttachment'
  | 'DeleteVolumeAttachment' | 'AddResourceSlice' | 'DeleteResourceSlice'

export class NodeAuthorizer implements Authorizer {
  readonly name = 'Node'
  readonly #options: NodeAuthorizerOptions
  readonly #graph = new NodeGraph()
  /** The rules of all node agents, before the checks below. */
  readonly #rules: readonly Rule[]
  /** A node agent reads its own node and pods, not all of them. */
  readonly #isNarrow: boolean
  readonly #readsAccounts: boolean
  /** The emulated release has resource claims and resource slices. */
  readonly #hasDevices: boolean
  #followed: Followed | undefined

  constructor (options: NodeAuthorizerOptions) {
    const { gates = DEFAULT_GATES } = options
    this.#options = options
    this.#rules = (clusterRolesOf(gates).find(({ name }) => name === 'system:node')?.rules ?? []).map(parseRule)
    this.#isNarrow = gates.enabled('AuthorizeNodeWithSelectors')
    this.#readsAccounts = gates.enabled('KubeletServiceAccountTokenForCredentialProviders')
    this.#hasDevices = gates.enabled('DynamicResourceAllocation')
  }

  async start (): Promise<void> {
    const podKey = ({ namespace, name }: ObjectName): string => `${namespace}/${name}`
    this.#followed = this.#options.follow('pods, volumes and attachments', [{
      group: '',
      plural: 'pods',
      changed: this.#timed('AddPod', object => {
        const pod = object as Pod // the followed resource
        this.#graph.setPod(podKey({ namespace: pod.metadata.namespace ?? '', name: pod.metadata.name ?? '' }), pod)
      }),
      deleted: this.#timed<ObjectName>('DeletePod', name => { this.#graph.deletePod(podKey(name)) })
    }, {
      group: '',
      plural: 'persistentvolumes',
      changed: this.#timed('AddPV', object => {
        this.#graph.setVolume(object.metadata.name ?? '', object as PersistentVolume)
      }),
      deleted: this.#timed<ObjectName>('DeletePV', ({ name }) => { this.#graph.deleteVolume(name) })
    }, {
      group: STORAGE,
      plural: 'volumeattachments',
      changed: this.#timed('AddVolumeAttachment', object => {
        const { metadata, spec } = object as VolumeAttachment // as above
        this.#graph.setAttachment(metadata.name ?? '', spec.nodeName)
      }),
      deleted: this.#timed<ObjectName>('DeleteVolumeAttachment', ({ name }) => { this.#graph.deleteAttachment(name) })
    }, ...this.#hasDevices ? [this.#slices()] : []])
  }

  #slices (): FollowedResource {
    return {
      group: DEVICES,
      plural: 'resourceslices',
      optional: true,
      changed: this.#timed('AddResourceSlice', object => {
        const { metadata, spec } = object as ResourceSlice // the followed resource
        this.#graph.setSlice(metadata.name ?? '', spec.nodeName ?? '')
      }),
      deleted: this.#timed<ObjectName>('DeleteResourceSlice', ({ name }) => { this.#graph.deleteSlice(name) })
    }
  }

  close (): void { this.#followed?.close() }

  authorize ({ user, info }: Attributes): Ruling {
    const node = nodeOf(user)
    if (node === undefined) return NO_OPINION
    if (node === '') return noOpinion(`unknown node for user ${JSON.stringify(user.username)}`)
    if (info.isResourceRequest) {
      switch (`${info.group}/${info.resource}`) {
        case '/secrets': return this.#authorizeRead(node, 'secrets', info)
        case '/configmaps': return this.#authorizeRead(node, 'configmaps', info)
        case '/persistentvolumeclaims': return this.#authorizeClaim(node, info)
        case '/persistentvolumes': return this.#authorizeGet(node, info, name => this.#graph.usesVolume(node, name))
        case `${STORAGE}/volumeattachments`:
          return this.#authorizeGet(node, info, name => this.#graph.isAttachedTo(node, name))
        case '/serviceaccounts': return this.#authorizeToken(node, info)
        case 'coordination.orch.io/leases': return ownLease(node, info)
        case `${DEVICES}/resourceclaims`:
          if (!this.#hasDevices) break
          return this.#authorizeGet(node, info, name =>
            this.#graph.refersTo(node, keyOf('resourceclaims', info.namespace, name)))
        case `${DEVICES}/resourceslices`:
          if (!this.#hasDevices) break
          return this.#authorizeSlice(node, info)
        case `${STORAGE}/csinodes`: return ownCSINode(node, info)
        case '/nodes':
          if (this.#isNarrow && READS.has(info.verb)) return ownNode(node, info)
          break
        case '/pods':
          if (this.#isNarrow && READS.has(info.verb)) return this.#authorizePod(node, info)
          break
      }
    }
    return this.#rules.some(rule => ruleAllows(rule, info)) ? ALLOW : NO_OPINION
  }

  /** The permissions depend on the node's pods, so they cannot be listed; for other users there are none. */
  rules (user: UserInfo): Rules {
    const nothing = { resourceRules: [], nonResourceRules: [] }
    if (nodeOf(user) === undefined) return { ...nothing, incomplete: false }
    return {
      ...nothing, incomplete: true, evaluationError: new Error('node authorizer does not support user rule resolution')
    }
  }

  /** Reads of one named object of a namespace, including a list or watch of that name. */
  #authorizeRead (node: string, resource: ReferredResource, info: RequestInfo): Ruling {
    if (!READS.has(info.verb)) return noOpinion(`node ${JSON.stringify(node)} can only read resources of this type`)
    if (info.subresource !== '') return noOpinion(`node ${JSON.stringify(node)} cannot read subresources of this type`)
    if (info.namespace === '') return noOpinion(`node ${JSON.stringify(node)} can only read ${resource} of a namespace`)
    return this.#ifRelated(node, info, () => this.#graph.refersTo(node, keyOf(resource, info.namespace, info.name)))
  }

  #authorizeGet (node: string, info: RequestInfo, isRelated: (name: string) => boolean): Ruling {
    if (info.verb !== 'get') {
      return noOpinion(`node ${JSON.stringify(node)} can only get individual resources of this type`)
    }
    if (info.subresource !== '') return noOpinion(`node ${JSON.stringify(node)} cannot get subresources of this type`)
    return this.#ifRelated(node, info, () => isRelated(info.name))
  }

  #authorizeClaim (node: string, info: RequestInfo): Ruling {
    const isRelated = (): boolean =>
      this.#graph.refersTo(node, keyOf('persistentvolumeclaims', info.namespace, info.name))
    if (info.subresource !== 'status') return this.#authorizeGet(node, info, isRelated)
    if (!STATUS.has(info.verb)) {
      return noOpinion(`node ${JSON.stringify(node)} can only update the status of resources of this type`)
    }
    return this.#ifRelated(node, info, isRelated)
  }

  /** Reads of pods that are bound to the node: of one, or of those selected by the node. */
  #authorizePod (node: string, info: RequestInfo): Ruling {
    if (info.subresource !== '') return noOpinion(`node ${JSON.stringify(node)} cannot read subresources of this type`)
    if (info.name === '' && info.verb !== 'get') {
      return selectsNode(info, node)
        ? ALLOW
        : noOpinion(`can only list or watch pods with the field selector spec.nodeName=${node}`)
    }
    return this.#ifRelated(node, info, () => this.#graph.isOn(node, `${info.namespace}/${info.name}`))
  }

  /** Slices of devices of the node. What a new one says is checked where it is admitted. */
  #authorizeSlice (node: string, info: RequestInfo): Ruling {
    const { verb, subresource } = info
    if (subresource !== '') return noOpinion('cannot access subresources of a slice')
    if (verb === 'create') return ALLOW
    if (SELECTS.has(verb)) {
      return selectsNode(info, node)
        ? ALLOW
        : noOpinion(`can only ${verb} slices with the field selector spec.nodeName=${node}`)
    }
    return this.#ifRelated(node, info, () => this.#graph.hasSlice(node, info.name))
  }

  #authorizeToken (node: string, info: RequestInfo): Ruling {
    if (this.#readsAccounts && info.verb === 'get' && info.subresource === '') {
      return this.#ifRelated(node, info, () =>
        this.#graph.refersTo(node, keyOf('serviceaccounts', info.namespace, info.name)))
    }
    if (info.verb !== 'create' || info.subresource !== 'token') {
      return noOpinion(`node ${JSON.stringify(node)} can only create tokens for individual service accounts`)
    }
    return this.#ifRelated(node, info, () =>
      this.#graph.refersTo(node, keyOf('serviceaccounts', info.namespace, info.name)))
  }

  #ifRelated (node: string, { name }: RequestInfo, isRelated: () => boolean): Ruling {
    if (name === '') return noOpinion('No Object name found')
    if (this.#followed?.loaded !== true) return notLoaded('pods and volumes are not loaded yet')
    this.#followed.catchUp()
    return isRelated() ? ALLOW : noOpinion(`no relationship found between node ${JSON.stringify(node)} and this object`)
  }

  #timed<T = ApiObject> (action: GraphAction, change: (of: T) => void): (of: T) => void {
    const { observe } = this.#options
    if (observe === undefined) return change
    return of => {
      const since = performance.now()
      change(of)
      observe(action, (performance.now() - since) / 1000)
    }
  }
}
