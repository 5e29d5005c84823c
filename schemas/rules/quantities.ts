/** Quantities of resources, and resource names. */
import type { Report } from '../language/types.js'
import { amountOf, compareQuantities } from '../meta/quantity.js'
import { qualifiedName } from '../names.js'
import { invalid } from './findings.js'

const OBJECTS = [
  'pods', 'resourcequotas', 'services', 'replicationcontrollers', 'secrets', 'configmaps', 'persistentvolumeclaims',
  'services.nodeports', 'services.loadbalancers'
]
const COMPUTE = ['cpu', 'memory', 'ephemeral-storage']
const QUOTA = [
  ...COMPUTE, ...COMPUTE.flatMap(name => [`requests.${name}`, `limits.${name}`]), 'requests.storage', ...OBJECTS
]
const STANDARD = [...QUOTA, 'storage']
/** Only unqualified names and names of this domain are native resources. */
const OWN_DOMAIN = 'orch.io/'

export const HUGE_PAGES = 'hugepages-'
export const isHugePages = (name: string): boolean => name.startsWith(HUGE_PAGES)
const isQuotaHugePages = (name: string): boolean => isHugePages(name) || name.startsWith('requests.hugepages-')
export const isNative = (name: string): boolean => !name.includes('/') || name.includes(OWN_DOMAIN)
/** Whether device plugins may add the resource to nodes. Its amounts are integers and cannot be overcommitted. */
export const isExtendedResource = (name: string): boolean => !isNative(name) && !name.startsWith('requests.') &&
  qualifiedName(`requests.${name}`).length === 0
export const isQuotaResource = (name: string): boolean => QUOTA.includes(name) || isQuotaHugePages(name)
/** Whether limits may exceed requests. */
export const isOvercommittable = (name: string): boolean => isNative(name) && !isHugePages(name)

/** @returns whether the name is a qualified name */
export function validateResourceName (report: Report, field: string, name: string): boolean {
  const wrong = qualifiedName(name)
  for (const detail of wrong) invalid(report, field, name, detail)
  if (wrong.length === 0 && !name.includes('/') && !STANDARD.includes(name) && !isQuotaHugePages(name)) {
    invalid(report, field, name, 'must be a standard resource type or fully qualified')
  }
  return wrong.length === 0
}

/** Resource names in container requests and limits. */
export function validateContainerResourceName (report: Report, field: string, name: string): void {
  validateResourceName(report, field, name)
  if (!name.includes('/')) {
    if (!COMPUTE.includes(name) && !isHugePages(name)) {
      invalid(report, field, name, 'must be a standard resource for containers')
    }
  } else if (!isNative(name) && !isExtendedResource(name)) {
    invalid(report, field, name, "doesn't follow extended resource name standard")
  }
}

export function validateQuotaResourceName (report: Report, field: string, name: string): void {
  validateResourceName(report, field, name)
  if (!name.includes('/') && !isQuotaResource(name)) {
    invalid(report, field, name, 'must be a standard resource for quota')
  }
}

export const isNegative = (amount: string): boolean => compareQuantities(amount, '0') < 0

function isWhole (amount: string): boolean {
  const { value, scale } = amountOf(amount)
  return scale >= 0 || value % 10n ** BigInt(-scale) === 0n
}

/** Not negative, and an integer for countable resources. */
export function validateAmount (report: Report, field: string, name: string, amount: string): void {
  if (isNegative(amount)) invalid(report, field, amount, 'must be greater than or equal to 0')
  if ((OBJECTS.includes(name) || isExtendedResource(name)) && !isWhole(amount)) {
    invalid(report, field, amount, 'must be an integer')
  }
}

export function validatePositiveAmount (report: Report, field: string, amount: string): void {
  if (compareQuantities(amount, '0') <= 0) invalid(report, field, amount, 'must be greater than zero')
}
