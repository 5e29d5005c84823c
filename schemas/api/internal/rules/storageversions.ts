/** Validation of StorageVersions. */
import type { Report } from '../../../language/types.js'
import { qualifiedName, dnsSubdomain, LABEL_1035_FORM, dns1035Label, formed, type NameRule } from '../../../names.js'
import { invalid, checkName, required } from '../../../rules/findings.js'
import type { ServerStorageVersion, StorageVersionCondition, StorageVersionStatus } from '../storageversions.js'

const VERSION_WORDS = formed(
  "an apiVersion is a DNS-1035 label, which must consist of lower case alphanumeric characters or '-', start with an " +
    'alphabetic character, and end with an alphanumeric character',
  LABEL_1035_FORM, 'my-name', 'abc-123'
)
const EMPTY = 'must be non-empty'

/** VERSION or GROUP/VERSION. */
const apiVersion: NameRule = text => {
  const parts = text.split('/')
  if (parts.length > 2) {
    return [`${VERSION_WORDS} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyVersion')`]
  }
  const [version = '', group] = parts.reverse()
  const wrong = (part: string, rule: NameRule): readonly string[] => part === '' ? [EMPTY] : rule(part)
  return [
    ...(group === undefined ? [] : wrong(group, dnsSubdomain).map(detail => `group part: ${detail}`)),
    ...wrong(version, dns1035Label).map(detail => `version part: ${detail}`)
  ]
}

/** GROUP.RESOURCE */
export const storageVersionName: NameRule = name => {
  const dot = name.lastIndexOf('.')
  if (dot < 0) return ['name must be in the form of <group>.<resource>']
  return [
    ...dnsSubdomain(name.slice(0, dot)).map(detail => `the group segment ${detail}`),
    ...dns1035Label(name.slice(dot + 1)).map(detail => `the resource segment ${detail}`)
  ]
}

export function validateStorageVersionStatus (status: StorageVersionStatus, at: string, report: Report): void {
  const { storageVersions = [], conditions = [] } = status
  storageVersions.forEach((version, index) => { validateServer(version, `${at}.storageVersions[${index}]`, report) })
  validateCommonVersion(status, `${at}.commonEncodingVersion`, report)
  validateConditions(conditions, at, report)
}

function validateServer (
  { apiServerID = '', encodingVersion = '', decodableVersions = [], servedVersions = [] }: ServerStorageVersion,
  at: string, report: Report
): void {
  checkName(report, `${at}.apiServerID`, apiServerID, dnsSubdomain)
  const check = (field: string, version: string): void => {
    const wrong = apiVersion(version)
    if (wrong.length > 0) invalid(report, field, version, wrong.join(','))
  }
  check(`${at}.encodingVersion`, encodingVersion)
  decodableVersions.forEach((version, index) => { check(`${at}.decodableVersions[${index}]`, version) })
  if (!decodableVersions.includes(encodingVersion)) {
    invalid(
      report, `${at}.decodableVersions`, decodableVersions,
      `decodableVersions must include encodingVersion ${encodingVersion}`
    )
  }
  servedVersions.forEach((version, index) => {
    const field = `${at}.servedVersions[${index}]`
    check(field, version)
    if (!decodableVersions.includes(version)) {
      invalid(report, field, version, `decodableVersions must include the served version ${version}`)
    }
  })
}

/** Set if and only if all servers agree. */
function validateCommonVersion (
  { storageVersions = [], commonEncodingVersion: given }: StorageVersionStatus, field: string, report: Report
): void {
  const versions = new Set(storageVersions.map(({ encodingVersion = '' }) => encodingVersion))
  const [common] = versions.size === 1 ? versions : []
  if (given === common) return
  if (common ===
    undefined) {
    invalid(
      report, field, given,
      'must not be set if servers do not agree on the same encoding version, or if there is no server reporting the ' +
        'supported versions yet'
    )
  } else if (given === undefined) invalid(report, field, null, `the common encoding version is ${common}`)
  else invalid(report, field, given, `the actual common encoding version is ${common}`)
}

/** As upstream, paths omit `conditions`. */
function validateConditions (conditions: readonly StorageVersionCondition[], at: string, report: Report): void {
  const seen = new Map<string, number>()
  for (const [index, { type, status, reason = '', message = '' }] of conditions.entries()) {
    const field = `${at}[${index}]`
    const before = seen.get(type)
    if (before !== undefined) {
      invalid(
        report, `${field}.type`, type,
        `the type of the condition is not unique, it also appears in conditions[${before}]`
      )
    }
    seen.set(type, index)
    checkName(report, `${field}.type`, type, qualifiedName)
    checkName(report, `${field}.status`, status, qualifiedName)
    if (reason === '') required(report, `${field}.reason`, 'reason cannot be empty')
    if (message === '') required(report, `${field}.message`, 'message cannot be empty')
  }
}
