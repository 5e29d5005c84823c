/**
 * The mode Node: a node agent, `system:node:NAME` of the group `system:nodes`, may do what node agents do, and of secrets, config
 * maps, claims, volumes, attachments and tokens only with those that a pod bound to it refers to. Its leases and CSINodes are those of its own
 * name. What it may not has no opinion here: other modes may still allow it. (Interface: Authorization flags.)
 */
import type { PersistentVolume } from '../../schemas/api/core/persistentvolumes.js'
import type { Pod } from '../../schemas/api/core/pods.js'
import type { VolumeAttachment } from '../../schemas/api/storage/volumeattachments.js'
import type { Attributes, Authorizer, Rules, Ruling } from '../authorizer.js'
import type { RequestInfo } from '../request-info.js'
import type { UserInfo } from '../../schemas/meta/user-info.js'
import type { Follow, Followed, ObjectName } from '../follow.js'
import { COMPONENT_ROLES } from '../rbac/defaults/component-roles.js'
import { parseRule, ruleAllows } from '../rbac/rules.js'
import type { ApiObject } from '../../schemas/index.js'
import { NodeGraph } from './graph.js'
import { ALLOW, no, ownCSINode, ownLease } from './own.js'
import { keyOf, type Referred } from './references.js'

const GROUP = 'system:nodes'
const PREFIX = 'system:node:'
const STORAGE = 'storage.orch.io'

const NOBODYS: Ruling = { decision: 'NoOpinion', reason: '' }

/** What all node agents may do, with what is looked at closer left to that. */
const RULES = (COMPONENT_ROLES.find(({ name }) => name === 'system:node')?.rules ?? []).map(parseRule)

const READS: ReadonlySet<string> = new Set(['get', 'list', 'watch'])
const STATUS: ReadonlySet<string> = new Set(['update', 'patch'])

/** The name of the node, '' for a node agent without one, undefined for others. */
export function nodeOf ({ username, groups }: UserInfo): string | undefined {
  if (!username.startsWith(PREFIX)) return undefined
  return groups.includes(GROUP) ? username.slice(PREFIX.length) : undefined
}

export interface NodeAuthorizerOptions {
  readonly follow: Follow
  /** Told of each change of the graph, and how many seconds it took. */
  readonly observe?: (action: GraphAction, seconds: number) => void
}

export type GraphAction = 'AddPod' | 'DeletePod' | 'AddPV' | 'DeletePV' | 'AddVolumeAttachment' | 'DeleteVolumeAttachment'

export class NodeAuthorizer implements Authorizer {
  readonly name = 'Node'
  readonly #options: NodeAuthorizerOptions
  readonly #graph = new NodeGraph()
  #followed: Followed | undefined

  constructor (options: NodeAuthorizerOptions) { this.#options = options }

  async start (): Promise<void> {
    const podKey = ({ namespace, name }: ObjectName): string => `${namespace}/${name}`
    this.#followed = this.#options.follow('pods, volumes and attachments', [{
      group: '',
      plural: 'pods',
      changed: this.#timed('AddPod', object => {
        const pod = object as Pod // the resource that is followed
        this.#graph.setPod(podKey({ namespace: pod.metadata.namespace ?? '', name: pod.metadata.name ?? '' }), pod)
      }),
      deleted: this.#timed<ObjectName>('DeletePod', name => { this.#graph.deletePod(podKey(name)) })
    }, {
      group: '',
      plural: 'persistentvolumes',
      changed: this.#timed('AddPV', object => { this.#graph.setVolume(object.metadata.name ?? '', object as PersistentVolume) }),
      deleted: this.#timed<ObjectName>('DeletePV', ({ name }) => { this.#graph.deleteVolume(name) })
    }, {
      group: STORAGE,
      plural: 'volumeattachments',
      changed: this.#timed('AddVolumeAttachment', object => {
        const { metadata, spec } = object as VolumeAttachment // as above
        this.#graph.setAttachment(metadata.name ?? '', spec.nodeName)
      }),
      deleted: this.#timed<ObjectName>('DeleteVolumeAttachment', ({ name }) => { this.#graph.deleteAttachment(name) })
    }])
  }

  close (): void { this.#followed?.close() }

  authorize ({ user, info }: Attributes): Ruling {
    const node = nodeOf(user)
    if (node === undefined) return NOBODYS
    if (node === '') return no(`unknown node for user ${JSON.stringify(user.username)}`)
    if (info.isResourceRequest) {
      switch (`${info.group}/${info.resource}`) {
        case '/secrets': return this.#read(node, 'secrets', info)
        case '/configmaps': return this.#read(node, 'configmaps', info)
        case '/persistentvolumeclaims': return this.#claim(node, info)
        case '/persistentvolumes': return this.#got(node, info, name => this.#graph.usesVolume(node, name))
        case `${STORAGE}/volumeattachments`: return this.#got(node, info, name => this.#graph.isAttachedTo(node, name))
        case '/serviceaccounts': return this.#token(node, info)
        case 'coordination.orch.io/leases': return ownLease(node, info)
        case `${STORAGE}/csinodes`: return ownCSINode(node, info)
      }
    }
    return RULES.some(rule => ruleAllows(rule, info)) ? ALLOW : NOBODYS
  }

  /** What a node agent may depends on the pods of its node; of others this mode knows nothing, which is all there is to know. */
  rules (user: UserInfo): Rules {
    const nothing = { resourceRules: [], nonResourceRules: [] }
    if (nodeOf(user) === undefined) return { ...nothing, incomplete: false }
    return { ...nothing, incomplete: true, evaluationError: new Error('node authorizer does not support user rule resolution') }
  }

  /** One of a namespace by its name, be it by a list or watch of that name alone. */
  #read (node: string, resource: Referred, info: RequestInfo): Ruling {
    if (!READS.has(info.verb)) return no(`node ${JSON.stringify(node)} can only read resources of this type`)
    if (info.subresource !== '') return no(`node ${JSON.stringify(node)} cannot read subresources of this type`)
    if (info.namespace === '') return no(`node ${JSON.stringify(node)} can only read ${resource} of a namespace`)
    return this.#related(node, info, () => this.#graph.refersTo(node, keyOf(resource, info.namespace, info.name)))
  }

  #got (node: string, info: RequestInfo, isRelated: (name: string) => boolean): Ruling {
    if (info.verb !== 'get') return no(`node ${JSON.stringify(node)} can only get individual resources of this type`)
    if (info.subresource !== '') return no(`node ${JSON.stringify(node)} cannot get subresources of this type`)
    return this.#related(node, info, () => isRelated(info.name))
  }

  #claim (node: string, info: RequestInfo): Ruling {
    const isRelated = (): boolean => this.#graph.refersTo(node, keyOf('persistentvolumeclaims', info.namespace, info.name))
    if (info.subresource !== 'status') return this.#got(node, info, isRelated)
    if (!STATUS.has(info.verb)) return no(`node ${JSON.stringify(node)} can only update the status of resources of this type`)
    return this.#related(node, info, isRelated)
  }

  #token (node: string, info: RequestInfo): Ruling {
    if (info.verb !== 'create' || info.subresource !== 'token') return no(`node ${JSON.stringify(node)} can only create tokens for individual service accounts`)
    return this.#related(node, info, () => this.#graph.refersTo(node, keyOf('serviceaccounts', info.namespace, info.name)))
  }

  #related (node: string, { name }: RequestInfo, isRelated: () => boolean): Ruling {
    if (name === '') return no('No Object name found')
    if (this.#followed?.loaded !== true) return no('pods and volumes are not loaded yet')
    this.#followed.catchUp()
    return isRelated() ? ALLOW : no(`no relationship found between node ${JSON.stringify(node)} and this object`)
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
