/** IP addresses and networks. As upstream, IPv4 addresses in IPv6 and zones are refused. */
import { isIPv4, isIPv6 } from 'node:net'
import { Fault, Opaque, type Apply, type Library, type Value } from './values.js'

const MAX_TEXT = 64

/** The bytes of an address. */
function bytesOf (text: string): number[] | undefined {
  if (text.length > MAX_TEXT) return undefined
  if (isIPv4(text)) return text.split('.').map(Number)
  if (!isIPv6(text) || text.includes('%')) return undefined
  const [head = '', tail] = text.split('::')
  const groups = (part: string): number[] => part === ''
    ? []
    : part.split(':').flatMap(group => group.includes('.')
        ? group.split('.').map(Number)
        : [parseInt(group, 16) >> 8, parseInt(group, 16) & 0xff])
  const [before, after] = [groups(head), tail === undefined ? [] : groups(tail)]
  const bytes = [...before, ...Array<number>(16 - before.length - after.length).fill(0), ...after]
  return bytes.slice(0, 10).every(byte => byte === 0) && bytes[10] === 0xff && bytes[11] === 0xff ? undefined : bytes
}

function textOf (bytes: readonly number[]): string {
  if (bytes.length === 4) return bytes.join('.')
  const groups = Array.from({ length: 8 }, (_, index) => ((bytes[2 * index] ?? 0) << 8) + (bytes[2 * index + 1] ?? 0))
  const hex = groups.map(group => group.toString(16)).join(':')
  // The longest run of at least two zeros.
  const runs = [...hex.matchAll(/(?<![^:])0(?::0)+(?![^:])/g)].map(match => ({ run: match[0], index: match.index }))
  const [longest] = runs.sort((one, other) => other.run.length - one.run.length || one.index - other.index)
  if (longest === undefined) return hex
  const [before, after] = [hex.slice(0, longest.index), hex.slice(longest.index + longest.run.length)]
  return `${before.replace(/:$/, '')}::${after.replace(/^:/, '')}`
}

export class Address extends Opaque {
  readonly type = 'ip'
  constructor (readonly bytes: readonly number[]) { super() }
  override get size (): number { return this.bytes.length }
  override toString (): string { return textOf(this.bytes) }
  override equals (other: Opaque): boolean { return String(this) === String(other) }
}
export class Network extends Opaque {
  readonly type = 'cidr'
  constructor (readonly address: Address, readonly bits: number) { super() }
  override get size (): number { return Math.ceil(this.bits / 8) }
  override toString (): string { return `${String(this.address)}/${this.bits}` }
  override equals (other: Opaque): boolean { return String(this) === String(other) }

  masked (): Network {
    return new Network(new Address(this.address.bytes.map((byte, index) => byte & maskOf(this.bits, index))), this.bits)
  }

  has ({ bytes }: Address): boolean {
    const own = this.address.bytes
    return own.length === bytes.length && own.every((byte, index) => {
      const mask = maskOf(this.bits, index)
      return (byte & mask) === ((bytes[index] ?? 0) & mask)
    })
  }
}
const maskOf = (bits: number, index: number): number => 0xff00 >> Math.min(8, Math.max(0, bits - index * 8)) & 0xff

function addressOf (text: string): Address | undefined {
  const bytes = bytesOf(text)
  return bytes === undefined ? undefined : new Address(bytes)
}

function networkOf (text: string): Network | undefined {
  const [, start = '', bits = ''] = /^([^/]*)\/(0|[1-9]\d{0,2})$/.exec(text) ?? []
  const address = addressOf(start)
  return address === undefined || Number(bits) > address.bytes.length * 8
    ? undefined
    : new Network(address, Number(bits))
}

const parsed = (of: (text: string) => Value | undefined, what: string): Apply => ([text]) => typeof text === 'string'
  ? of(text) ?? new Fault(`${what} parse error during conversion from string: ${JSON.stringify(text.slice(0, 100))}`)
  : undefined
const asked = (of: (text: string) => unknown): Apply => ([text]) =>
  typeof text === 'string' ? of(text) !== undefined : undefined
const ofAddress = (apply: (bytes: readonly number[]) => Value): Apply => ([of]) =>
  of instanceof Address ? apply(of.bytes) : undefined
const ofNetwork = (apply: (network: Network) => Value): Apply => ([of]) =>
  of instanceof Network ? apply(of) : undefined

const isZero = (bytes: readonly number[]): boolean => bytes.every(byte => byte === 0)
const isLoopback = (bytes: readonly number[]): boolean => bytes.length === 4
  ? bytes[0] === 127
  : isZero(bytes.slice(0, 15)) && bytes[15] === 1
const isLinkLocalMulticast = ([first = 0, second = 0, three, ...rest]: readonly number[]): boolean => rest.length === 1
  ? first === 224 && second === 0 && three === 0
  : first === 0xff && (second & 0x0f) === 2
const isLinkLocalUnicast = ([first = 0, two = 0, , ...rest]: readonly number[]): boolean => rest.length === 1
  ? first === 169 && two === 254
  : first === 0xfe && (two & 0xc0) === 0x80
const isMulticast = ([first = 0, ...rest]: readonly number[]): boolean =>
  rest.length === 3 ? (first & 0xf0) === 0xe0 : first === 0xff
const isBroadcast = (bytes: readonly number[]): boolean => bytes.length === 4 && bytes.every(byte => byte === 255)

export const ofNets: Library = [
  ['ip', parsed(addressOf, 'IP Address')], ['isIP', asked(addressOf)],
  ['ip.isCanonical', ([text]) => {
    if (typeof text !== 'string') return undefined
    const address = addressOf(text)
    return address === undefined
      ? new Fault(`IP Address ${JSON.stringify(text.slice(0, 100))} parse error during conversion from string`)
      : String(address) === text
  }],
  ['.family', ofAddress(bytes => bytes.length === 4 ? 4n : 6n)], ['.isUnspecified', ofAddress(isZero)],
  ['.isLoopback', ofAddress(isLoopback)], ['.isLinkLocalMulticast', ofAddress(isLinkLocalMulticast)],
  ['.isLinkLocalUnicast', ofAddress(isLinkLocalUnicast)],
  ['.isGlobalUnicast', ofAddress(bytes => !isZero(bytes) && !isLoopback(bytes) && !isMulticast(bytes) &&
    !isLinkLocalUnicast(bytes) && !isBroadcast(bytes))],
  ['cidr', parsed(networkOf, 'network address')], ['isCIDR', asked(networkOf)],
  ['.ip', ofNetwork(({ address }) => address)], ['.prefixLength', ofNetwork(({ bits }) => BigInt(bits))],
  ['.masked', ofNetwork(network => network.masked())],
  ['.containsIP', ([of, other]) => {
    const address = typeof other === 'string' ? addressOf(other) : other
    if (address === undefined) {
      return new Fault(`IP Address ${JSON.stringify(other)} parse error during conversion from string`)
    }
    return of instanceof Network && address instanceof Address ? of.has(address) : undefined
  }],
  ['.containsCIDR', ([of, other]) => {
    const network = typeof other === 'string' ? networkOf(other) : other
    if (network === undefined) {
      return new Fault(`network address parse error during conversion from string: ${JSON.stringify(other)}`)
    }
    return of instanceof Network && network instanceof Network
      ? of.bits <= network.bits && of.has(network.address)
      : undefined
  }]
]
