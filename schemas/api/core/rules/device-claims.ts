/** Validation of claims to devices in pods. */
import type { Report } from '../../../language/declare.js'
import { dnsLabel, dnsSubdomain } from '../../../names.js'
import { checkName, duplicate, forbidden, invalid, required, requiredName } from '../../../rules/findings.js'
import type { ObjectMeta } from '../../../meta/object.js'
import type { PodSpec } from '../pod-spec.js'
import type { PodStatus } from '../pod-status.js'
import type { ResourceRequirements } from '../resource-requirements.js'
import { MIRROR } from './annotations.js'

/** @returns the names of the claims */
export function checkPodClaims ({ resourceClaims = [] }: PodSpec, at: string, report: Report): ReadonlySet<string> {
  const names = new Set<string>()
  resourceClaims.forEach((claim, index) => {
    const { name, resourceClaimName, resourceClaimTemplateName } = claim
    const path = `${at}.resourceClaims[${index}]`
    if (name === '') required(report, `${path}.name`)
    else if (names.has(name)) duplicate(report, `${path}.name`, name)
    else checkName(report, `${path}.name`, name, dnsLabel)
    names.add(name)
    const sources = { resourceClaimName, resourceClaimTemplateName }
    const set = Object.entries(sources).filter(([, source]) => source !== undefined)
    if (set.length === 0) {
      invalid(report, path, claim, 'must specify one of: `resourceClaimName`, `resourceClaimTemplateName`')
    } else if (set.length > 1) {
      invalid(
        report, path, claim,
        'at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified'
      )
    }
    for (const [field, source = ''] of set) checkName(report, `${path}.${field}`, source, dnsSubdomain)
  })
  return names
}

/** @param names those of the pod's claims */
export function checkUsedClaims (
  { claims = [] }: ResourceRequirements, names: ReadonlySet<string>, at: string, report: Report
): void {
  const seen = new Set<string>()
  const requested = new Set<string>()
  claims.forEach(({ name, request = '' }, index) => {
    const path = `${at}.claims[${index}]`
    if (name === '') return required(report, path)
    // A whole claim has all of its requests.
    const used = request === '' ? name : `${name}/${request}`
    if (seen.has(name) || seen.has(used) || (request === '' && requested.has(name))) duplicate(report, path, used)
    else if (request !== '') checkName(report, `${path}.request`, request, dnsLabel)
    seen.add(used)
    if (request !== '') requested.add(name)
    if (!names.has(name)) {
      report({
        type: 'FieldValueNotFound', field: path, value: name, detail: names.size === 0
          ? 'must be one of the names in pod.spec.resourceClaims which is empty'
          : 'must be one of the names in pod.spec.resourceClaims'
      })
    }
  })
}

/** Node agents make mirror pods without the API, and so without claims. */
export function checkNotOfNode ({ annotations }: ObjectMeta, { resourceClaims }: PodSpec, report: Report): void {
  if (resourceClaims !== undefined && annotations !== undefined && Object.hasOwn(annotations, MIRROR)) {
    forbidden(report, '', 'static pods do not support resource claims')
  }
}

/** The claim that the scheduler made for extended resources, and for which of them each request stands. */
export function checkExtendedClaim (
  { containers = [], initContainers = [] }: PodSpec, status: PodStatus, report: Report
): void {
  const at = 'status.extendedResourceClaimStatus'
  const { requestMappings, resourceClaimName } = status.extendedResourceClaimStatus ?? {}
  if (requestMappings === undefined) return
  if (requestMappings.length === 0) {
    required(report, `${at}.requestMappings`, 'at least one request mapping is required')
  }
  const asks = new Map(
    [...initContainers, ...containers].map(({ name, resources }) => [name, resources?.requests ?? {}])
  )
  const seen = new Set<string>()
  requestMappings.forEach((mapping, index) => {
    const path = `${at}.requestMappings[${index}]`
    const { containerName, resourceName, requestName } = mapping
    const requests = asks.get(containerName)
    if (requests === undefined) {
      invalid(
        report, `${path}.containerName`, containerName,
        'must match the name of an entry in spec.initContainers.name or spec.containers.name'
      )
    } else if (!Object.hasOwn(requests, resourceName)) {
      invalid(
        report, `${path}.resourceName`, resourceName,
        'must match the extended resource name of an entry in spec.initContainers.resources.requests or ' +
          'spec.containers.resources.requests'
      )
    }
    checkName(report, `${at}.requestName`, requestName, dnsLabel)
    const key = JSON.stringify([containerName, resourceName, requestName])
    if (seen.has(key)) for (const [field, name] of Object.entries(mapping)) duplicate(report, `${path}.${field}`, name)
    seen.add(key)
  })
  requiredName(report, `${at}.resourceClaimName`, resourceClaimName ?? '', dnsSubdomain)
}
