/** IP addresses and CIDRs. As upstream in this release, IPv4 octets may have leading zeros and are decimal. */
import type { Report } from '../language/types.js'
import type { NameRule } from '../names.js'
import { invalid } from './findings.js'

const NONE: readonly string[] = Object.freeze([])

/** 4 bytes for IPv4, and for IPv4-mapped IPv6; 16 for other IPv6. */
export type Address = readonly number[]

export interface Range { readonly address: Address, readonly bits: number }

function parse4 (text: string): number[] | undefined {
  const parts = text.split('.')
  if (parts.length !== 4 || !parts.every(part => /^\d{1,9}$/.test(part) && Number(part) <= 255)) return undefined
  return parts.map(Number)
}

/** IPv6 groups; the last may be an IPv4 address. */
function groups (text: string): number[] | undefined {
  if (text === '') return []
  const bytes: number[] = []
  const parts = text.split(':')
  for (const [index, part] of parts.entries()) {
    if (part.includes('.')) {
      const tail = index === parts.length - 1 ? parse4(part) : undefined
      if (tail === undefined) return undefined
      bytes.push(...tail)
    } else {
      if (!/^[0-9a-fA-F]{1,9}$/.test(part)) return undefined
      const value = Number.parseInt(part, 16)
      if (value > 0xffff) return undefined
      bytes.push(value >> 8, value & 0xff)
    }
  }
  return bytes
}

function parse16 (text: string): number[] | undefined {
  const halves = text.split('::')
  if (halves.length > 2) return undefined
  const [head, tail] = halves.map(groups)
  if (head === undefined || (halves.length === 2 && tail === undefined)) return undefined
  if (tail === undefined) return head.length === 16 ? head : undefined
  const missing = 16 - head.length - tail.length
  return missing < 2 ? undefined : [...head, ...Array.from({ length: missing }, () => 0), ...tail]
}

const isMapped = (bytes: Address): boolean => bytes.slice(0, 10).every(byte => byte === 0) && bytes[10] === 0xff &&
  bytes[11] === 0xff

export function parseAddress (text: string): Address | undefined {
  if (!text.includes(':')) return parse4(text)
  const bytes = parse16(text)
  return bytes !== undefined && isMapped(bytes) ? bytes.slice(12) : bytes
}

export function parseRange (text: string): Range | undefined {
  const [, start = '', length = ''] = /^([^/]*)\/(\d{1,8})$/.exec(text) ?? []
  const address = start.includes(':') ? parse16(start) : parse4(start)
  const bits = Number(length)
  return address === undefined || bits > address.length * 8 ? undefined : { address, bits }
}

export function contains (range: Range, address: Address): boolean {
  if (range.address.length !== address.length) return false
  return range.address.every((byte, index) => {
    const bits = Math.min(8, Math.max(0, range.bits - index * 8))
    const mask = 0xff00 >> bits & 0xff
    return (byte & mask) === ((address[index] ?? 0) & mask)
  })
}

export const isIPv6 = (address: Address): boolean => address.length === 16

/** Whether both IP families occur. */
export const areDualStack = (addresses: readonly Address[]): boolean => addresses.some(isIPv6) &&
  !addresses.every(isIPv6)

export const ipAddress: NameRule = text =>
  parseAddress(text) === undefined ? ['must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'] : NONE

/** Refuses unspecified, loopback and link-local addresses as endpoints. */
export function validateNonSpecialAddress (text: string, at: string, report: Report): void {
  const address = parseAddress(text)
  if (address === undefined) return invalid(report, at, text, 'must be a valid IP address')
  const [first = 0, second = 0, third = 0] = address
  const six = isIPv6(address)
  const head = address.slice(0, -1).every(byte => byte === 0)
  if (head && address.at(-1) === 0) invalid(report, at, text, `may not be unspecified (${text})`)
  if (six ? head && address.at(-1) === 1 : first === 127) {
    invalid(report, at, text, 'may not be in the loopback range (127.0.0.0/8, ::1/128)')
  }
  if (six ? first === 0xfe && (second & 0xc0) === 0x80 : first === 169 && second === 254) {
    invalid(report, at, text, 'may not be in the link-local range (169.254.0.0/16, fe80::/10)')
  }
  if (six ? first === 0xff && (second & 0x0f) === 2 : first === 224 && second === 0 && third === 0) {
    invalid(report, at, text, 'may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)')
  }
}
