/** Numbered values of a pool: the addresses of a range or a port range. */
import { parseAddress, parseRange, contains, isIPv6, type Address } from '../../schemas/rules/net.js'

export interface ValueRange {
  /** The range as errors name it. */
  readonly range: string
  readonly size: number
  readonly nameOf: (slot: number) => string
  /** Undefined for values outside the range, and for those beyond the numbered ones. */
  readonly slotOf: (name: string) => number | undefined
  /** Whether a value may be asked for. */
  readonly has: (name: string) => boolean
}

export interface AddressValues extends ValueRange { readonly family: 'IPv4' | 'IPv6' }

/** The limit of upstream: all addresses must fit a bitmap in memory. */
const MAX_BITS = 20
const MIN_ADDRESSES = 8
/** Only the first addresses of a larger IPv6 range are used. */
const MAX_IPV6_ADDRESSES = 2 ** 16

/** The form of RFC 5952. */
export function addressText (address: Address): string {
  if (!isIPv6(address)) return address.join('.')
  const groups = Array.from({ length: 8 }, (_, index) =>
    (((address[2 * index] ?? 0) << 8) | (address[2 * index + 1] ?? 0)).toString(16))
  return new URL(`http://[${groups.join(':')}]/`).hostname.slice(1, -1)
}

/** The canonical form, for comparison. */
export function canonicalAddress (text: string): string | undefined {
  const address = parseAddress(text)
  return address === undefined ? undefined : addressText(address)
}

const last32 = (address: Address): number => address.slice(-4).reduce((sum, byte) => sum * 256 + byte, 0)

/** Explains why a range of service addresses is invalid; undefined if valid. */
export function rangeProblem (text: string): string | undefined {
  const range = parseRange(text)
  if (range === undefined) return 'must be a CIDR such as 10.0.0.0/24 or fd00::/108'
  const bits = range.address.length * 8
  if (bits - range.bits > MAX_BITS) {
    return `is too large: a range of ${bits}-bit addresses has a prefix of at least ${bits - MAX_BITS} bits`
  }
  return 2 ** (bits - range.bits) < MIN_ADDRESSES ? `must have at least ${MIN_ADDRESSES} addresses` : undefined
}

/**
 * The values of a range such as `10.0.0.0/24`: all but the first address and, for IPv4, the broadcast address.
 * @param anySize numbers the first addresses of a range that is too large for a bitmap; the others may be asked for
 * @throws TypeError
 */
export function addressValues (text: string, anySize = false): AddressValues {
  const range = parseRange(text)
  const problem = anySize && range !== undefined ? undefined : rangeProblem(text)
  if (problem !== undefined || range === undefined) throw new TypeError(`${text} ${problem ?? ''}`)
  const ipv6 = isIPv6(range.address)
  const width = 2 ** (range.address.length * 8 - range.bits)
  const base = Math.floor(last32(range.address) / width) * width
  const most = ipv6 ? MAX_IPV6_ADDRESSES - 1 : 2 ** MAX_BITS - 2
  const size = Math.max(0, Math.min(width - (ipv6 ? 1 : 2), most))
  const head = range.address.slice(0, -4)
  const nameOf = (slot: number): string => {
    const tail = base + slot + 1
    return addressText([...head, tail >>> 24 & 0xff, tail >>> 16 & 0xff, tail >>> 8 & 0xff, tail & 0xff])
  }
  const slotOf = (name: string): number | undefined => {
    const address = parseAddress(name)
    if (address === undefined || isIPv6(address) !== ipv6 || !contains(range, address)) return undefined
    const slot = last32(address) - base - 1
    const isNumbered = slot >= 0 && slot < size && address.slice(0, -4).every((byte, index) => byte === head[index])
    return isNumbered ? slot : undefined
  }
  const isEdge = (address: Address): boolean => {
    const host = last32(address) - base
    const isFirst = host === 0 && address.slice(0, -4).every((byte, index) => byte === head[index])
    return isFirst || (!ipv6 && host === width - 1)
  }
  const has = (name: string): boolean => {
    const address = parseAddress(name)
    return address !== undefined && isIPv6(address) === ipv6 && contains(range, address) && !isEdge(address)
  }
  return { family: ipv6 ? 'IPv6' : 'IPv4', range: text, size, nameOf, slotOf, has: anySize ? has : isIn(slotOf) }
}

const isIn = (slotOf: ValueRange['slotOf']): ValueRange['has'] => name => slotOf(name) !== undefined

export function portValues (from: number, to: number): ValueRange {
  const slotOf = (name: string): number | undefined => {
    const port = Number(name)
    return Number.isInteger(port) && port >= from && port <= to ? port - from : undefined
  }
  return { range: `${from}-${to}`, size: to - from + 1, nameOf: slot => String(from + slot), slotOf, has: isIn(slotOf) }
}
