/** Validation of APIServices. */
import type { Report } from '../../../language/types.js'
import { dns1035Label, dnsSubdomain, pathSegment } from '../../../names.js'
import { invalid, checkName, notSupported, required } from '../../../rules/findings.js'
import type { APIService } from '../apiservices.js'

const MAX_GROUP_PRIORITY = 20000
const MAX_VERSION_PRIORITY = 1000
/** In the order of error messages. */
const STATES = ['True', 'False', 'Unknown']

export function validateApiService (
  { metadata: { name = '', generateName = '' }, spec }: APIService, report: Report
): void {
  const {
    group = '', version = '', service, insecureSkipTLSVerify, caBundle = '', groupPriorityMinimum: groupPriority,
    versionPriority
  } = spec
  const own = `${version}.${group}`
  // As upstream, generateName must be the required name too.
  for (const [field, value] of Object.entries({ generateName, name })) {
    if (value !== '' && value !== own && pathSegment(value).length === 0) {
      invalid(report, `metadata.${field}`, value, `must be \`spec.version+"."+spec.group\`: ${JSON.stringify(own)}`)
    }
  }
  if (group === '') {
    if (version !== 'v1') required(report, 'spec.group', 'only v1 may have an empty group and it better be legacy orch')
  } else checkName(report, 'spec.group', group, dnsSubdomain)
  checkName(report, 'spec.version', version, dns1035Label)
  if (groupPriority <= 0 || groupPriority > MAX_GROUP_PRIORITY) {
    invalid(report, 'spec.groupPriorityMinimum', groupPriority, `must be positive and less than ${MAX_GROUP_PRIORITY}`)
  }
  if (versionPriority <= 0 || versionPriority > MAX_VERSION_PRIORITY) {
    invalid(report, 'spec.versionPriority', versionPriority, `must be positive and less than ${MAX_VERSION_PRIORITY}`)
  }
  if (service === undefined) {
    if (caBundle !== '') {
      invalid(
        report, 'spec.caBundle', `${Buffer.byteLength(caBundle, 'base64')} bytes`,
        'local APIServices may not have a caBundle'
      )
    }
    if (insecureSkipTLSVerify === true) {
      invalid(report, 'spec.insecureSkipTLSVerify', true, 'local APIServices may not have insecureSkipTLSVerify')
    }
    return
  }
  if (!service.namespace) required(report, 'spec.service.namespace')
  if (!service.name) required(report, 'spec.service.name')
  const { port = 443 } = service
  if (port < 1 || port > 65535) {
    invalid(report, 'spec.service.port', port, 'port is not valid: must be between 1 and 65535, inclusive')
  }
  if (insecureSkipTLSVerify === true && caBundle !== '') {
    invalid(report, 'spec.insecureSkipTLSVerify', true, 'may not be true if caBundle is present')
  }
}

export function validateApiServiceStatus (
  conditions: NonNullable<APIService['status']['conditions']>, at: string, report: Report
): void {
  for (const [index, { status }] of conditions.entries()) {
    if (!STATES.includes(status)) notSupported(report, `${at}[${index}].status`, status, STATES)
  }
}
