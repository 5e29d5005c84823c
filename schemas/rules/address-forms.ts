/** How IP addresses and ranges are written: forms that programs read differently, and the usual form of the others. */
import { isIPv6, parseAddress, parseRange, type Address } from './net.js'

export type Holds = 'ip' | 'cidr'

const LEADING_ZERO = /(?:^|\.)0\d/

/** Why a valid address or range is read differently by programs; undefined for others and for what is no address. */
export function ambiguity (text: string, holds: Holds): string | undefined {
  const [start = '', length] = holds === 'ip' ? [text] : text.trim().split('/')
  const address = parseAddress(start)
  if (address === undefined) return undefined
  if (!start.includes(':') && LEADING_ZERO.test(start)) return 'must not have leading 0s'
  if (start.includes(':') && !isIPv6(address)) {
    return `must not be an IPv4-mapped IPv6 ${holds === 'ip' ? 'address' : 'value'}`
  }
  if (holds === 'ip' || length === undefined) return undefined
  const range = parseRange(text.trim())
  if (range === undefined) return undefined
  const masked = withoutHostBits(range.address, range.bits)
  return masked.every((byte, index) => byte === range.address[index])
    ? undefined
    : 'must not have bits set beyond the prefix length'
}

function withoutHostBits (address: Address, bits: number): number[] {
  return address.map((byte, index) => byte & 0xff00 >> Math.min(8, Math.max(0, bits - index * 8)) & 0xff)
}

/** The usual form where the text has another; undefined for what is no address. */
export function canonicalForm (text: string, holds: Holds): string | undefined {
  const trimmed = text.trim()
  const [start = '', length = ''] = holds === 'ip' ? [trimmed] : trimmed.split('/')
  const address = parseAddress(start)
  if (address === undefined || (holds === 'cidr' && parseRange(trimmed) === undefined)) return undefined
  const form = `${written(address)}${holds === 'ip' ? '' : `/${Number(length)}`}`
  return form === trimmed ? undefined : form
}

/** RFC 5952: lower case, no leading zeros, the longest run of zero groups replaced. */
export function written (address: Address): string {
  if (!isIPv6(address)) return address.join('.')
  const groups = Array.from({ length: 8 }, (_, index) => (address[2 * index] ?? 0) << 8 | (address[2 * index + 1] ?? 0))
  let [start, longest] = [-1, 1]
  for (let at = 0; at < groups.length; at++) {
    let end = at
    while (groups[end] === 0) end++
    if (end - at > longest) [start, longest] = [at, end - at]
  }
  const text = (from: number, to: number): string => groups.slice(from, to).map(group => group.toString(16)).join(':')
  return start === -1 ? text(0, 8) : `${text(0, start)}::${text(start + longest, 8)}`
}
