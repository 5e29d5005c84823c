/** What services and claims use, and objects of which only their number counts. */
import type { PersistentVolumeClaim } from '../../schemas/api/core/persistentvolumeclaims.js'
import type { Service } from '../../schemas/api/core/services.js'
import { wholeUnits, isWhole } from '../../schemas/meta/quantity.js'
import type { Amounts } from '../amounts.js'
import { classOf } from '../storage-classes.js'
import type { Evaluator } from './evaluator.js'

const WRITES = (request: { readonly operation: string, readonly subresource: string }): boolean => request.subresource === '' && (request.operation === 'CREATE' || request.operation === 'UPDATE')
const NOT_SCOPED = (): boolean => false
const SERVICES: ReadonlySet<string> = new Set(['count/services', 'services', 'services.nodeports', 'services.loadbalancers'])

export const serviceEvaluator: Evaluator = {
  handles: WRITES,
  tracks: name => SERVICES.has(name),
  usage: object => {
    const { type, ports = [], allocateLoadBalancerNodePorts } = (object as Service).spec // of its type
    const balanced = type === 'LoadBalancer'
    const open = balanced && allocateLoadBalancerNodePorts === false ? ports.filter(({ nodePort = 0 }) => nodePort !== 0) : ports
    return { 'count/services': '1', services: '1', 'services.nodeports': String(balanced || type === 'NodePort' ? open.length : 0), 'services.loadbalancers': balanced ? '1' : '0' }
  },
  isIn: NOT_SCOPED
}

const CLAIMS = 'persistentvolumeclaims'
const STORAGE = 'requests.storage'
const OF_CLASS = '.storageclass.storage.orch.io/'

export const claimEvaluator: Evaluator = {
  handles: WRITES,
  tracks: name => name === `count/${CLAIMS}` || [CLAIMS, STORAGE].some(own => name === own || name.endsWith(OF_CLASS + own)),
  usage: object => {
    const claim = object as PersistentVolumeClaim // of its type
    const asked = claim.spec.resources.requests?.['storage']
    const storage = asked === undefined || isWhole(asked) ? asked : String(wholeUnits(asked))
    const used: Amounts = { [CLAIMS]: '1', ...storage === undefined ? {} : { [STORAGE]: storage } }
    const storageClass = classOf(claim)
    const ofClass = storageClass === '' ? [] : Object.entries(used).map(([name, amount]) => [storageClass + OF_CLASS + name, amount])
    return { [`count/${CLAIMS}`]: '1', ...used, ...Object.fromEntries(ofClass) as Amounts }
  },
  isIn: NOT_SCOPED
}

/** That quotas know by their own names too. */
const BY_NAME: ReadonlySet<string> = new Set(['configmaps', 'resourcequotas', 'replicationcontrollers', 'secrets'])

export function countEvaluator (group: string, resource: string): Evaluator {
  const names = new Set([`count/${resource}${group === '' ? '' : `.${group}`}`, ...group === '' && BY_NAME.has(resource) ? [resource] : []])
  const one = Object.fromEntries([...names].map(name => [name, '1']))
  return { handles: ({ operation, subresource }) => operation === 'CREATE' && subresource === '', tracks: name => names.has(name), usage: () => one, isIn: NOT_SCOPED, countsOnly: true }
}
