/** Validation of EndpointSlices of both versions, in the stored form. */
import type { Report } from '../../../language/types.js'
import { validateLabels } from '../../../meta/metadata.js'
import { qualifiedName, labelValue, dnsSubdomain, dnsLabel, type NameRule } from '../../../names.js'
import { duplicate, invalid, checkName, notSupported, required } from '../../../rules/findings.js'
import { isIPv6, parseAddress, validateNonSpecialAddress } from '../../../rules/net.js'
import type { Endpoint, EndpointSlice } from '../v1beta1.js'

/** Topology labels of v1beta1; v1 has the fields zone and nodeName. */
export const ZONE = 'topology.orch.io/zone'
export const HOSTNAME = 'orch.io/hostname'

/** The topology without what v1 has in fields. */
export function otherTopology (
  { topology, nodeName }: Pick<Endpoint, 'topology' | 'nodeName'>
): Record<string, string> {
  const { [ZONE]: _, ...rest } = topology ?? {}
  if (nodeName !== undefined && rest[HOSTNAME] === nodeName) delete rest[HOSTNAME]
  return rest
}

type EndpointPort = NonNullable<EndpointSlice['ports']>[number]

const TYPES = ['FQDN', 'IPv4', 'IPv6']
const MAX_ENDPOINTS = 1000
const MAX_PORTS = 20000
const MAX_ADDRESSES = 100
const MAX_TOPOLOGY = 16
const MAX_HINTS = 8

export function validateSlice ({ addressType, endpoints = [], ports = [] }: EndpointSlice, report: Report): void {
  if (addressType !== '' && !TYPES.includes(addressType)) notSupported(report, 'addressType', addressType, TYPES)
  const tooMany = (field: string, list: readonly unknown[], most: number): boolean => {
    if (list.length > most) {
      report({ type: 'FieldValueTooMany', field, value: list.length, detail: `must have at most ${most} items` })
    }
    return list.length > most
  }
  if (!tooMany('endpoints', endpoints, MAX_ENDPOINTS)) {
    endpoints.forEach((endpoint, index) => {
      validateEndpoint(endpoint, addressType, `endpoints[${index}]`, tooMany, report)
    })
  }
  if (tooMany('ports', ports, MAX_PORTS)) return
  const names = new Set<string>()
  ports.forEach((port, index) => {
    const { name = '' } = port
    validateSlicePort(port, names.has(name), `ports[${index}]`, report)
    names.add(name)
  })
}

function validateEndpoint (
  endpoint: Endpoint, type: string, at: string,
  tooMany: (field: string, list: readonly unknown[], most: number) => boolean, report: Report
): void {
  const { addresses = [], hostname, nodeName, hints } = endpoint
  const topology = otherTopology(endpoint)
  if (addresses.length === 0) required(report, `${at}.addresses`, 'must contain at least 1 address')
  else tooMany(`${at}.addresses`, addresses, MAX_ADDRESSES)
  addresses.forEach((address, index) => { validateAddress(address, type, `${at}.addresses[${index}]`, report) })
  if (nodeName !== undefined) checkName(report, `${at}.nodeName`, nodeName, dnsSubdomain)
  tooMany(`${at}.deprecatedTopology`, Object.keys(topology), MAX_TOPOLOGY)
  validateLabels(topology, `${at}.deprecatedTopology`, report)
  if (hostname !== undefined) checkName(report, `${at}.hostname`, hostname, dnsLabel)
  for (const [list, rule] of [['forZones', labelValue], ['forNodes', dnsSubdomain]] as const) {
    const meant = hints?.[list] ?? []
    if (tooMany(`${at}.hints.${list}`, meant, MAX_HINTS)) return
    const names = new Set<string>()
    meant.forEach(({ name }, index) => {
      const field = `${at}.hints.${list}[${index}].name`
      if (names.has(name)) duplicate(report, field, name)
      names.add(name)
      checkName(report, field, name, rule)
    })
  }
}

const ofFamily = (six: boolean): NameRule => text => {
  const address = parseAddress(text)
  return address !== undefined && isIPv6(address) === six ? [] : [`must be a valid IPv${six ? 6 : 4} address`]
}
const [four, six] = [ofFamily(false), ofFamily(true)]

function validateAddress (address: string, type: string, at: string, report: Report): void {
  if (type === 'FQDN') return validateDomainName(address, at, report)
  if (type !== 'IPv4' && type !== 'IPv6') return
  checkName(report, at, address, type === 'IPv4' ? four : six)
  validateNonSpecialAddress(address, at, report)
}

/** Reports one finding at most, and omits the trailing dot of a fully qualified name. */
function validateDomainName (address: string, at: string, report: Report): void {
  if (address === '') return required(report, at)
  const name = address.replace(/\.$/, '')
  const wrong = dnsSubdomain(name)
  if (wrong.length > 0) return invalid(report, at, name, wrong.join(','))
  const labels = name.split('.')
  if (labels.length < 2) {
    return invalid(report, at, name, 'should be a domain with at least two segments separated by dots')
  }
  const bad = labels.find(label => dnsLabel(label).length > 0)
  if (bad !== undefined) invalid(report, at, bad, dnsLabel(bad).join(','))
}

function validateSlicePort (
  { name = '', protocol, appProtocol }: EndpointPort, isTaken: boolean, at: string, report: Report
): void {
  if (name !== '') checkName(report, `${at}.name`, name, dnsLabel)
  if (isTaken) duplicate(report, `${at}.name`, name)
  if (protocol === undefined) required(report, `${at}.protocol`)
  if (appProtocol !== undefined) checkName(report, `${at}.appProtocol`, appProtocol, qualifiedName)
}
