/**
 * Where a proxied request may go. Addresses of pods and nodes are what their node agents write; one of this machine, or of
 * its own link, would lead to what trusts this server for being near.
 */
import { lookup } from 'node:dns/promises'
import { BlockList, isIP } from 'node:net'
import { badRequest, unexplained } from '../../schemas/status.js'

const NEAR = new BlockList()
NEAR.addAddress('0.0.0.0')
NEAR.addAddress('255.255.255.255')
NEAR.addSubnet('127.0.0.0', 8)
NEAR.addSubnet('169.254.0.0', 16)
NEAR.addSubnet('224.0.0.0', 4)
NEAR.addAddress('::', 'ipv6')
NEAR.addAddress('::1', 'ipv6')
NEAR.addSubnet('fe80::', 10, 'ipv6')
NEAR.addSubnet('ff00::', 8, 'ipv6')

/** An address of IPv4 in the form of one of IPv6 is the same place. */
function plain (address: string): string {
  const mapped = new URL(`http://[${address}]`).hostname.slice(1, -1)
  const found = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(mapped)
  if (found === null) return address
  const [high = 0, low = 0] = found.slice(1).map(part => Number.parseInt(part, 16))
  return [high >> 8, high & 255, low >> 8, low & 255].join('.')
}

/** True for an address that traffic may be sent to: neither of this machine nor of a link, nor of many. */
export function isProxyable (address: string): boolean {
  if (isIP(address) === 0 || address.includes('%')) return false
  const known = isIP(address) === 6 ? plain(address) : address
  return !NEAR.check(known, isIP(known) === 6 ? 'ipv6' : 'ipv4')
}

export const notProxyable = () => badRequest('address not allowed')

export interface Reach {
  /** For hosts whose pods and nodes are on their own machine. */
  readonly nearby: boolean
}

/** @throws StatusError 400 */
export function checkAddress (address: string, { nearby }: Reach): void {
  if (isIP(address) === 0 || !(nearby || isProxyable(address))) throw notProxyable()
}

/**
 * An address of a host, all of which have to be allowed. What was looked at is what is connected to, so that a name cannot
 * mean another address then. @throws StatusError 400, 500
 */
export async function resolveHost (host: string, reach: Reach): Promise<string> {
  const found = await lookup(host, { all: true }).catch((cause: unknown) => { throw unexplained(`lookup ${host}: no such host`, cause) })
  for (const { address } of found) checkAddress(address, reach)
  const [first] = found
  if (first === undefined) throw badRequest('no addresses for hostname')
  return first.address
}
