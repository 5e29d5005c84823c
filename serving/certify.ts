/**
 * Creates the self-signed serving certificate, and certificates with test authorities. P-256 with hand-written DER: a
 * fixed structure costs less at start-up than a certificate library.
 */
import { randomBytes, sign } from 'node:crypto'
import { isIP } from 'node:net'
import { newKeyPair } from '../auth/new-key.js'
import type { Pair } from '../config/certificates.js'

export interface CertificateRequest {
  readonly commonName: string
  /** Organizations of the subject: a client's groups. */
  readonly organizations?: readonly string[]
  /** Additional common names before `commonName`. */
  readonly earlierNames?: readonly string[]
  /** DNS names and IP addresses. */
  readonly names?: readonly string[]
  /** Extended key usages; omitted if empty. */
  readonly uses: ReadonlyArray<keyof typeof USES>
  /** Object identifiers of empty critical extensions. */
  readonly critical?: readonly string[]
  /** Signature digest. Default SHA-256; tests use weak ones. */
  readonly digest?: keyof typeof SIGNATURES
  /** True for a CA certificate. */
  readonly authority?: boolean
  /** Default self-signed. */
  readonly issuer?: { readonly commonName: string, readonly key: string }
  readonly from: Date
  readonly until: Date
}

const HOUR = 3_600_000
const DAY = 24 * HOUR

const INTEGER = 0x02
const BIT_STRING = 0x03
const OCTET_STRING = 0x04
const OBJECT_IDENTIFIER = 0x06
const UTF8_STRING = 0x0c
const GENERALIZED_TIME = 0x18
const SEQUENCE = 0x30
const SET = 0x31
const TRUE = Buffer.from([0x01, 0x01, 0xff])

function der (tag: number, ...contents: Uint8Array[]): Buffer {
  const body = Buffer.concat(contents)
  const length = body.length < 0x80
    ? [body.length]
    : body.length < 0x100 ? [0x81, body.length] : [0x82, body.length >> 8, body.length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...length]), body])
}

/** Context-specific tag, constructed unless it contains a primitive. */
const tagged = (tag: number, content: Uint8Array, constructed = true): Buffer =>
  der((constructed ? 0xa0 : 0x80) | tag, content)

function oid (dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number)
  const bytes = [first * 40 + second]
  for (const arc of rest) {
    const septets = [arc & 0x7f]
    for (let left = arc >> 7; left > 0; left >>= 7) septets.unshift((left & 0x7f) | 0x80)
    bytes.push(...septets)
  }
  return der(OBJECT_IDENTIFIER, Buffer.from(bytes))
}

const time = (date: Date): Buffer =>
  der(GENERALIZED_TIME, Buffer.from(`${date.toISOString().replace(/[-:T]|\.\d+/g, '')}`))

const extension = (id: string, critical: boolean, value: Uint8Array): Buffer =>
  der(SEQUENCE, oid(id), ...(critical ? [TRUE] : []), der(OCTET_STRING, value))

/** An IP address in network order. */
export function addressBytes (address: string): Buffer {
  if (isIP(address) === 4) return Buffer.from(address.split('.').map(Number))
  // URL normalizes IPv6 addresses to hexadecimal groups.
  const [head = '', tail] = new URL(`http://[${address.replace(/%.*$/, '')}]`).hostname.slice(1, -1).split('::')
  const groups = (text: string): number[] => text === '' ? [] : text.split(':').map(group => parseInt(group, 16))
  const before = groups(head)
  const after = tail === undefined ? [] : groups(tail)
  const all = [...before, ...new Array<number>(8 - before.length - after.length).fill(0), ...after]
  return Buffer.from(all.flatMap(group => [group >> 8, group & 0xff]))
}

const attribute = (id: string, value: string): Buffer =>
  der(SET, der(SEQUENCE, oid(id), der(UTF8_STRING, Buffer.from(value))))
const distinguished = (
  commonName: string, organizations: readonly string[] = [], earlier: readonly string[] = []
): Buffer =>
  der(SEQUENCE, ...organizations
    .map(text => attribute('2.5.4.10', text)), ...[...earlier, commonName].map(name => attribute('2.5.4.3', name)))

/** ECDSA with each digest. */
const SIGNATURES = { sha256: '1.2.840.10045.4.3.2', sha1: '1.2.840.10045.4.1' }

const USES = { server: '1.3.6.1.5.5.7.3.1', client: '1.3.6.1.5.5.7.3.2', any: '2.5.29.37.0' }

/** Generates a key and its certificate. */
export function certify (request: CertificateRequest): Pair {
  const {
    commonName, organizations, earlierNames, names = [], uses, critical = [], authority = false, issuer,
    digest = 'sha256'
  } = request
  const { privateKey: key, publicKey } = newKeyPair()
  const algorithm = der(SEQUENCE, oid(SIGNATURES[digest]))
  const serial = randomBytes(16)
  serial[0] = ((serial[0] ?? 0) & 0x7f) | 0x40 // positive and of full length
  const alternatives = names.map(name =>
    isIP(name) === 0 ? tagged(2, Buffer.from(name, 'latin1'), false) : tagged(7, addressBytes(name), false))
  const body = der(SEQUENCE,
    tagged(0, der(INTEGER, Buffer.from([2]))),
    der(INTEGER, serial),
    algorithm,
    issuer === undefined ? distinguished(commonName, organizations, earlierNames) : distinguished(issuer.commonName),
    der(SEQUENCE, time(request.from), time(request.until)),
    distinguished(commonName, organizations, earlierNames),
    publicKey,
    tagged(3, der(SEQUENCE,
      extension('2.5.29.19', true, authority ? der(SEQUENCE, TRUE) : der(SEQUENCE)), // basic constraints
      // key usage: digital signature, for authorities also certificate signing
      extension('2.5.29.15', true, der(BIT_STRING, Buffer.from(authority ? [0x02, 0x84] : [0x07, 0x80]))),
      ...(uses.length === 0 ? [] : [extension('2.5.29.37', false, der(SEQUENCE, ...uses.map(use => oid(USES[use]))))]),
      ...critical.map(id => extension(id, true, der(SEQUENCE))),
      ...(alternatives.length === 0 ? [] : [extension('2.5.29.17', false, der(SEQUENCE, ...alternatives))]))))
  const signature = sign(digest, body, issuer === undefined ? key : issuer.key)
  const certificate = der(SEQUENCE, body, algorithm, der(BIT_STRING, Buffer.from([0]), signature))
  return {
    certificate: `-----BEGIN CERTIFICATE-----\n${certificate.toString('base64').replace(/.{1,64}/g, '$&\n')}-----END ` +
      'CERTIFICATE-----\n',
    key
  }
}

/**
 * A self-signed serving certificate for one year that is its own authority: clients can pass it as
 * --certificate-authority.
 */
export function selfSigned (commonName: string, names: readonly string[], now: Date): Pair {
  return certify({
    commonName, names, uses: ['server'], authority: true, from: new Date(now.getTime() - HOUR),
    until: new Date(now.getTime() + 365 * DAY)
  })
}
