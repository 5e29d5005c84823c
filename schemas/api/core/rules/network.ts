/** Validation of DNS settings and host aliases. */
import { isOn } from '../../../gates.js'
import { checkName, forgiving, invalid, required } from '../../../rules/findings.js'
import type { Report } from '../../../language/declare.js'
import { dnsSubdomain, underscoredSubdomain } from '../../../names.js'
import type { HostAlias, PodDNSConfig } from '../pod-spec.js'
import { parseAddress } from '../../../rules/net.js'

/** Limits of the Linux resolver. */
const NAMESERVERS_MAX = 3
const SEARCHES = { most: 6, length: 256 }
/** Those of newer resolvers. */
const MORE_SEARCHES = { most: 32, length: 2048 }
const NO_ADDRESS = 'must be valid IP address'

export function checkDNS (
  config: PodDNSConfig | undefined, policy: string | undefined, at: string, report: Report
): void {
  if (policy === 'None') {
    if (config === undefined) return required(report, at, 'must provide `dnsConfig` when `dnsPolicy` is None')
    if ((config.nameservers ?? []).length === 0) {
      return required(report, `${at}.nameservers`, 'must provide at least one DNS nameserver when `dnsPolicy` is None')
    }
  }
  const { nameservers = [], searches = [], options = [] } = config ?? {}
  if (nameservers.length > NAMESERVERS_MAX) {
    invalid(report, `${at}.nameservers`, nameservers, `must not have more than ${NAMESERVERS_MAX} nameservers`)
  }
  nameservers.forEach((address, index) => {
    if (parseAddress(address) === undefined) invalid(report, `${at}.nameservers[${index}]`, address, NO_ADDRESS)
  })
  const { most, length } = isOn(report, 'ExpandedDNSConfig') ? MORE_SEARCHES : SEARCHES
  if (searches.length > most) {
    invalid(report, `${at}.searches`, searches, `must not have more than ${most} search paths`)
  }
  if (searches.join(' ').length > length) {
    invalid(
      report, `${at}.searches`, searches,
      `must not have more than ${length} characters (including spaces) in the search list`
    )
  }
  searches.forEach((domain, index) => { checkSearch(domain, `${at}.searches[${index}]`, report) })
  options.forEach(({ name = '' }, index) => {
    if (name === '') required(report, `${at}.options[${index}]`, 'must not be empty')
  })
}

/** Earlier releases leave what they find of what later ones allow. */
function checkSearch (domain: string, field: string, report: Report): void {
  const name = domain.replace(/\.$/, '')
  // A dot alone searches names as they are, in the root of the DNS.
  const isAllowedLater = domain === '.' || underscoredSubdomain(name).length === 0
  if (!isOn(report, 'RelaxedDNSSearchValidation')) {
    checkName(isAllowedLater ? forgiving(report) : report, field, name, dnsSubdomain)
  } else if (!isAllowedLater) checkName(report, field, name, underscoredSubdomain)
}

/** As upstream, field paths of 1.24 have no index; the value identifies the alias. */
export function checkHostAliases (aliases: readonly HostAlias[], at: string, report: Report): void {
  const isExact = isOn(report, 'PodFaultsNamePlaces')
  const of = (path: string, index: number): string => isExact ? `${path}[${index}]` : path
  for (const [index, { ip = '', hostnames = [] }] of aliases.entries()) {
    const alias = of(at, index)
    if (parseAddress(ip) === undefined) invalid(report, `${alias}.ip`, ip, NO_ADDRESS)
    hostnames.forEach((name, place) => { checkName(report, of(`${alias}.hostnames`, place), name, dnsSubdomain) })
  }
}
