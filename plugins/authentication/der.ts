/** Reads parts of a certificate's DER that Node does not expose. */
import type { X509Certificate } from 'node:crypto'

/** Key usage, alternative names, basic constraints, extended key usage. */
const UNDERSTOOD: ReadonlySet<string> = new Set(['551d0f', '551d11', '551d13', '551d25'])

/** Forgeable signatures: MD2, MD5 and SHA-1 with RSA, SHA-1 with ECDSA and DSA. */
const WEAK: ReadonlySet<string> = new Set([
  '2a864886f70d010102', '2a864886f70d010104', '2a864886f70d010105', '2a8648ce3d0401', '2a8648ce380403'
])

const OBJECT_IDENTIFIER = 0x06
const BOOLEAN = 0x01
/** Tag of a certificate's extensions. */
const EXTENSIONS = 0xa3

interface Element { readonly tag: number, readonly content: Buffer }

/** @throws RangeError for truncated input */
function elements (der: Buffer): Element[] {
  const children: Element[] = []
  for (let at = 0; at < der.length;) {
    const tag = der.readUInt8(at)
    let length = der.readUInt8(at + 1)
    at += 2
    if (length > 0x80) {
      const bytes = length & 0x7f
      length = der.readUIntBE(at, bytes)
      at += bytes
    }
    if (at + length > der.length) throw new RangeError('an element of a certificate is longer than the certificate')
    children.push({ tag, content: der.subarray(at, at + length) })
    at += length
  }
  return children
}

const inner = (element: Element | undefined): Element[] => element === undefined ? [] : elements(element.content)

/** True if all critical extensions are supported. */
export function isUnderstood (certificate: X509Certificate): boolean {
  const [whole] = elements(certificate.raw)
  const [body] = inner(whole)
  const [list] = inner(inner(body).find(({ tag }) => tag === EXTENSIONS))
  return inner(list).map(inner).every(([id, flag]) => id?.tag === OBJECT_IDENTIFIER &&
    (flag?.tag !== BOOLEAN || flag.content[0] === 0 || UNDERSTOOD.has(id.content.toString('hex'))))
}

/** True if the signature algorithm is forgeable. */
export function isWeaklySigned (certificate: X509Certificate): boolean {
  const [whole] = elements(certificate.raw)
  const [algorithm] = inner(inner(whole)[1])
  return algorithm === undefined || WEAK.has(algorithm.content.toString('hex'))
}
