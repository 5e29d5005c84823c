/** Evaluators of services, claims and resources that are only counted. */
import type { PersistentVolumeClaim } from '../../schemas/api/core/persistentvolumeclaims.js'
import type { Service } from '../../schemas/api/core/services.js'
import { compareQuantities, wholeUnits, isWhole } from '../../schemas/meta/quantity.js'
import type { Amounts } from '../amounts.js'
import { classOf } from '../storage-classes.js'
import type { Evaluator } from './evaluator.js'
import { claimIsIn } from './scopes.js'

const WRITES = (request: { readonly operation: string, readonly subresource: string }): boolean =>
  request.subresource === '' && (request.operation === 'CREATE' || request.operation === 'UPDATE')
const NOT_SCOPED = (): boolean => false
const SERVICES: ReadonlySet<string> = new Set([
  'count/services', 'services', 'services.nodeports', 'services.loadbalancers'
])

export const serviceEvaluator: Evaluator = {
  handles: WRITES,
  tracks: name => SERVICES.has(name),
  usage: object => {
    const { type, ports = [], allocateLoadBalancerNodePorts } = (object as Service).spec // the resource's type
    const balanced = type === 'LoadBalancer'
    const open = balanced && allocateLoadBalancerNodePorts === false
      ? ports.filter(({ nodePort = 0 }) => nodePort !== 0)
      : ports
    return {
      'count/services': '1', services: '1',
      'services.nodeports': String(balanced || type === 'NodePort' ? open.length : 0),
      'services.loadbalancers': balanced ? '1' : '0'
    }
  },
  isIn: NOT_SCOPED
}

const CLAIMS = 'persistentvolumeclaims'
const STORAGE = 'requests.storage'
const CLASS_INFIX = '.storageclass.storage.orch.io/'

export const claimEvaluator: Evaluator = {
  handles: WRITES,
  tracks: name => name === `count/${CLAIMS}` ||
    [CLAIMS, STORAGE].some(own => name === own || name.endsWith(CLASS_INFIX + own)),
  usage: object => {
    const claim = object as PersistentVolumeClaim // the resource's type
    const [wanted, allocated] = [
      claim.spec.resources.requests?.['storage'], claim.status.allocatedResources?.['storage']
    ]
    // After a failed expansion, the allocated storage may exceed the requested storage.
    const requested = compareQuantities(wanted, allocated) < 0 ? allocated : wanted
    const storage = requested === undefined || isWhole(requested) ? requested : String(wholeUnits(requested))
    const used: Amounts = { [CLAIMS]: '1', ...storage === undefined ? {} : { [STORAGE]: storage } }
    const storageClass = classOf(claim)
    const ofClass = storageClass === ''
      ? []
      : Object.entries(used).map(([name, amount]) => [storageClass + CLASS_INFIX + name, amount])
    return { [`count/${CLAIMS}`]: '1', ...used, ...Object.fromEntries(ofClass) as Amounts }
  },
  isIn: (object, scope) => claimIsIn(object as PersistentVolumeClaim, scope)
}

/** Resources that quotas can also count by their plain names. */
const LEGACY_NAMES: ReadonlySet<string> = new Set(['configmaps', 'resourcequotas', 'replicationcontrollers', 'secrets'])

export function countEvaluator (group: string, resource: string): Evaluator {
  const names = new Set([
    `count/${resource}${group === '' ? '' : `.${group}`}`,
    ...group === '' && LEGACY_NAMES.has(resource) ? [resource] : []
  ])
  const counts = Object.fromEntries([...names].map(name => [name, '1']))
  return {
    handles: ({ operation, subresource }) => operation === 'CREATE' &&
    subresource === '', tracks: name => names.has(name), usage: () => counts, isIn: NOT_SCOPED, countsOnly: true
  }
}
