/** What an APIService has to keep to. */
import type { Report } from '../../language/types.js'
import { dns1035Label, dnsSubdomain } from '../../names.js'
import { duplicate, invalid, named, notSupported, required } from '../../rules/findings.js'
import { validatePortNumber } from '../../rules/ports.js'
import type { APIService } from './apiservices.js'

const MOST_GROUP_PRIORITY = 20000
const MOST_VERSION_PRIORITY = 1000
const STATES = ['False', 'True', 'Unknown']

export function validateApiService ({ metadata: { name = '' }, spec }: APIService, report: Report): void {
  const { group = '', version = '', service, insecureSkipTLSVerify, caBundle = '', groupPriorityMinimum: groupPriority, versionPriority } = spec
  if (name !== '' && name !== `${version}.${group}`) invalid(report, 'metadata.name', name, 'must be `spec.version+"."+spec.group`')
  // That of the core group.
  if (group === '') {
    if (version !== 'v1') required(report, 'spec.group', 'only v1 may have an empty group')
  } else named(report, 'spec.group', group, dnsSubdomain)
  named(report, 'spec.version', version, dns1035Label)
  if (groupPriority <= 0 || groupPriority > MOST_GROUP_PRIORITY) invalid(report, 'spec.groupPriorityMinimum', groupPriority, `must be positive and less than ${MOST_GROUP_PRIORITY}`)
  if (versionPriority <= 0 || versionPriority > MOST_VERSION_PRIORITY) invalid(report, 'spec.versionPriority', versionPriority, `must be positive and less than ${MOST_VERSION_PRIORITY}`)
  if (service === undefined) {
    if (caBundle !== '') invalid(report, 'spec.caBundle', `${caBundle.length} bytes`, 'local APIServices may not have a caBundle')
    if (insecureSkipTLSVerify === true) invalid(report, 'spec.insecureSkipTLSVerify', true, 'local APIServices may not have insecureSkipTLSVerify')
    return
  }
  if (!service.namespace) required(report, 'spec.service.namespace')
  if (!service.name) required(report, 'spec.service.name')
  if (service.port !== undefined) validatePortNumber(report, 'spec.service.port', service.port)
  if (insecureSkipTLSVerify === true && caBundle !== '') invalid(report, 'spec.insecureSkipTLSVerify', true, 'may not be true if caBundle is present')
}

/** Conditions of a plain form, each once. */
export function validateApiServiceStatus (conditions: NonNullable<APIService['status']['conditions']>, at: string, report: Report): void {
  const types = new Set<string>()
  for (const [index, { type, status }] of conditions.entries()) {
    const field = `${at}[${index}]`
    if (!STATES.includes(status)) notSupported(report, `${field}.status`, status, STATES)
    if (types.has(type)) duplicate(report, `${field}.type`, type)
    types.add(type)
  }
}
