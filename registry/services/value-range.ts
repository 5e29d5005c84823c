/** What services take of: the addresses of a range, or the ports of the nodes, each a number from 0 on and a name. */
import { contains, isIPv6, parseAddress, parseRange } from '../../schemas/rules/net.js'
import type { Address } from '../../schemas/rules/net.js'

export interface ValueRange {
  /** How the range is written, for errors. */
  readonly range: string
  readonly size: number
  readonly nameOf: (slot: number) => string
  /** Undefined for what is not in the range, or not to be had of it. */
  readonly slotOf: (name: string) => number | undefined
}

export interface AddressValues extends ValueRange { readonly family: 'IPv4' | 'IPv6' }

/** What the convention allows: a state that is kept per address has to be small enough to be looked through. */
const MOST_BITS = 20
const LEAST_ADDRESSES = 8
/** Of an IPv6 range, whatever its size. */
const MOST_IPV6 = 2 ** 16

/** As RFC 5952 writes it. */
export function addressText (address: Address): string {
  if (!isIPv6(address)) return address.join('.')
  const groups = Array.from({ length: 8 }, (_, index) => (((address[2 * index] ?? 0) << 8) | (address[2 * index + 1] ?? 0)).toString(16))
  return new URL(`http://[${groups.join(':')}]/`).hostname.slice(1, -1)
}

/** Any form of an address in the one form that is compared. */
export function canonicalAddress (text: string): string | undefined {
  const address = parseAddress(text)
  return address === undefined ? undefined : addressText(address)
}

const last32 = (address: Address): number => address.slice(-4).reduce((sum, byte) => sum * 256 + byte, 0)

/** What is wrong with a range of service addresses, or undefined. */
export function rangeProblem (text: string): string | undefined {
  const range = parseRange(text)
  if (range === undefined) return 'must be a CIDR such as 10.0.0.0/24 or fd00::/108'
  const bits = range.address.length * 8
  if (bits - range.bits > MOST_BITS) return `is too large: a range of ${bits}-bit addresses has a prefix of at least ${bits - MOST_BITS} bits`
  return 2 ** (bits - range.bits) < LEAST_ADDRESSES ? `must have at least ${LEAST_ADDRESSES} addresses` : undefined
}

/** Of a range such as `10.0.0.0/24`: all but its first address, and of IPv4 its last, which is for broadcasts. @throws TypeError */
export function addressValues (text: string): AddressValues {
  const problem = rangeProblem(text)
  const range = parseRange(text)
  if (problem !== undefined || range === undefined) throw new TypeError(`${text} ${problem ?? ''}`)
  const six = isIPv6(range.address)
  const width = 2 ** (range.address.length * 8 - range.bits)
  const base = Math.floor(last32(range.address) / width) * width
  const size = six ? Math.min(width, MOST_IPV6) - 1 : width - 2
  const head = range.address.slice(0, -4)
  return {
    family: six ? 'IPv6' : 'IPv4',
    range: text,
    size,
    nameOf: slot => {
      const tail = base + slot + 1
      return addressText([...head, tail >>> 24 & 0xff, tail >>> 16 & 0xff, tail >>> 8 & 0xff, tail & 0xff])
    },
    slotOf: name => {
      const address = parseAddress(name)
      if (address === undefined || isIPv6(address) !== six || !contains(range, address)) return undefined
      const slot = last32(address) - base - 1
      return slot >= 0 && slot < size ? slot : undefined
    }
  }
}

export const portValues = (from: number, to: number): ValueRange => ({
  range: `${from}-${to}`,
  size: to - from + 1,
  nameOf: slot => String(from + slot),
  slotOf: name => {
    const port = Number(name)
    return Number.isInteger(port) && port >= from && port <= to ? port - from : undefined
  }
})
