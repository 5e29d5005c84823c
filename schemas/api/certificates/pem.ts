/** Validation of certificates and certificate requests in PEM. */
import { createPublicKey, verify, X509Certificate } from 'node:crypto'

const [BEGIN, END, DASHES] = ['-----BEGIN ', '-----END ', '-----']
const [INTEGER, BIT_STRING, OID, SEQUENCE] = [0x02, 0x03, 0x06, 0x30]

interface Block { readonly type: string, readonly body: string }

/** Yields the blocks and skips other text. Takes linear time, even with many unterminated blocks. */
function * blocksOf (text: string): Generator<Block> {
  let end = 0
  for (let at = text.indexOf(BEGIN); at !== -1; at = text.indexOf(BEGIN, at)) {
    const start = text.indexOf('\n', at)
    if (start === -1) return
    if (end < start) end = text.indexOf(`\n${END}`, start)
    if (end === -1) return
    const line = text.slice(at + BEGIN.length, start).trimEnd()
    const type = line.slice(0, -DASHES.length)
    const isBlock = line.endsWith(DASHES) && (at === 0 || text[at - 1] === '\n') &&
      text.startsWith(`${END}${type}${DASHES}`, end + 1)
    if (isBlock) yield { type, body: text.slice(start + 1, end) }
    at = isBlock ? end + 1 : start
  }
}

const firstOf = (text: string): Block | undefined => blocksOf(text).next().value ?? undefined

interface Part { readonly tag: number, readonly whole: Buffer, readonly body: Buffer }

/** Splits consecutive DER values. @throws RangeError for malformed DER */
function parts (der: Buffer): Part[] {
  const blocks: Part[] = []
  for (let at = 0; at < der.length;) {
    const [tag = 0, first = 0] = [der[at], der[at + 1]]
    const bytes = first < 0x80 ? 0 : first & 0x7f
    if (bytes > 4 || first === 0x80) throw new RangeError('a length that DER does not have')
    const length = bytes === 0 ? first : der.readUIntBE(at + 2, bytes)
    const start = at + 2 + bytes
    if (start + length > der.length) throw new RangeError('it ends too early')
    blocks.push({ tag, whole: der.subarray(at, start + length), body: der.subarray(start, start + length) })
    at = start + length
  }
  return blocks
}

/** Hash function by OID of the signature algorithm; null if the key implies it. */
const HASHES: Readonly<Record<string, string | null>> = {
  '2a864886f70d01010b': 'sha256', '2a864886f70d01010c': 'sha384', '2a864886f70d01010d': 'sha512',
  '2a8648ce3d040302': 'sha256', '2a8648ce3d040303': 'sha384', '2a8648ce3d040304': 'sha512', '2b6570': null
}

/** The error of a certificate request (PKCS #10) in PEM, if any. Its own key must have signed it. */
export function requestFinding (pem: string): string | undefined {
  const block = firstOf(pem)
  if (block?.type !== 'CERTIFICATE REQUEST') return 'PEM block type must be CERTIFICATE REQUEST'
  try {
    const [request] = parts(Buffer.from(block.body, 'base64'))
    const [info, algorithm, signature] = request?.tag === SEQUENCE ? parts(request.body) : []
    const [version, subject, key] = info?.tag === SEQUENCE ? parts(info.body) : []
    const [oid] = algorithm?.tag === SEQUENCE ? parts(algorithm.body) : []
    if (version?.tag !== INTEGER || subject?.tag !== SEQUENCE || key?.tag !== SEQUENCE || oid?.tag !== OID ||
      signature?.tag !== BIT_STRING) return 'is no certificate request'
    const name = oid.body.toString('hex')
    const hash = Object.hasOwn(HASHES, name) ? HASHES[name] : undefined
    if (hash === undefined) return 'the algorithm of its signature is not supported'
    const valid = info !== undefined && verify(
      hash, info.whole, createPublicKey({ key: key.whole, format: 'der', type: 'spki' }), signature.body.subarray(1)
    )
    return valid ? undefined : 'its signature does not fit its key'
  } catch {
    return 'is no certificate request'
  }
}

const ORGANIZATION = '55040a'
const COMMON_NAME = '550403'

/**
 * Organizations in the subject of a certificate request in PEM: the groups of its user.
 * @throws RangeError for a malformed request
 */
export const requestOrganizations = (pem: string): string[] => subjectOf(pem, ORGANIZATION)

/** Its last common name: the name of its user. @throws RangeError for a malformed request */
export const requestCommonName = (pem: string): string => subjectOf(pem, COMMON_NAME).at(-1) ?? ''

/** Values of an attribute. @throws RangeError */
function subjectOf (pem: string, attribute: string): string[] {
  const inside = (part: Part | undefined): Part[] => part === undefined ? [] : parts(part.body)
  const [request] = parts(Buffer.from(firstOf(pem)?.body ?? '', 'base64'))
  const [info] = inside(request)
  const [, subject] = inside(info)
  if (subject?.tag !== SEQUENCE) throw new RangeError('no certificate request')
  const attributes = inside(subject).flatMap(inside).map(inside)
  return attributes.flatMap(([oid, value]) =>
    oid?.body.toString('hex') === attribute && value !== undefined ? [value.body.toString()] : [])
}

/** The error of a certificate chain in PEM, if any. */
export function certificatesFinding (pem: string): string | undefined {
  let count = 0
  for (const { type, body } of blocksOf(pem)) {
    if (type !== 'CERTIFICATE') return `only CERTIFICATE PEM blocks are allowed, found ${JSON.stringify(type)}`
    if (body.includes(':')) return 'no PEM block headers are permitted'
    try {
      // eslint-disable-next-line no-new -- throws for a malformed certificate
      new X509Certificate(Buffer.from(body, 'base64'))
    } catch {
      return 'is no certificate'
    }
    count++
  }
  return count === 0 ? 'must contain at least one CERTIFICATE PEM block' : undefined
}
