/**
 * Restricts the addresses that proxied requests may reach. Node agents write the addresses of pods and nodes; a
 * loopback or link-local one would reach services that trust this machine.
 */
import { lookup } from 'node:dns/promises'
import { BlockList, isIP } from 'node:net'
import { classify } from '../../clients/errors.js'
import { badRequest, unexplained } from '../../schemas/status.js'

const FORBIDDEN = new BlockList()
FORBIDDEN.addAddress('0.0.0.0')
FORBIDDEN.addAddress('255.255.255.255')
FORBIDDEN.addSubnet('127.0.0.0', 8)
FORBIDDEN.addSubnet('169.254.0.0', 16)
FORBIDDEN.addSubnet('224.0.0.0', 4)
FORBIDDEN.addAddress('::', 'ipv6')
FORBIDDEN.addAddress('::1', 'ipv6')
FORBIDDEN.addSubnet('fe80::', 10, 'ipv6')
FORBIDDEN.addSubnet('ff00::', 8, 'ipv6')

/** Converts an IPv4-mapped IPv6 address to IPv4. */
function plain (address: string): string {
  const mapped = new URL(`http://[${address}]`).hostname.slice(1, -1)
  const match = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(mapped)
  if (match === null) return address
  const [high = 0, low = 0] = match.slice(1).map(part => Number.parseInt(part, 16))
  return [high >> 8, high & 255, low >> 8, low & 255].join('.')
}

/** False for loopback, link-local, unspecified, broadcast and multicast addresses. */
function isProxyable (address: string): boolean {
  if (isIP(address) === 0 || address.includes('%')) return false
  const unmapped = isIP(address) === 6 ? plain(address) : address
  return !FORBIDDEN.check(unmapped, isIP(unmapped) === 6 ? 'ipv6' : 'ipv4')
}

const notProxyable = () => badRequest('address not allowed')

export interface AddressPolicy {
  /** True allows pods and nodes on this machine. */
  readonly nearby: boolean
  /** True if a proxy resolves names, and connects to what they mean where it is. */
  readonly remote?: boolean
}

/** @throws StatusError 400 */
export function checkAddress (address: string, { nearby }: AddressPolicy): void {
  if (isIP(address) === 0 || !(nearby || isProxyable(address))) throw notProxyable()
}

/**
 * Resolves a host and returns its first address; all of them must be allowed. Callers connect to this address, so that
 * a second lookup cannot return another one. @throws StatusError 400, 500
 */
export async function resolveHost (host: string, reach: AddressPolicy): Promise<string> {
  if (reach.remote === true && isIP(host) === 0) return host
  const addresses = await lookup(host, { all: true })
    .catch((cause: unknown) => {
      throw unexplained(`lookup ${host}: no such host`, classify(cause, `node ${host}`))
    })
  for (const { address } of addresses) checkAddress(address, reach)
  const [first] = addresses
  if (first === undefined) throw badRequest('no addresses for hostname')
  return first.address
}
