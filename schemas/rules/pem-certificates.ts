/** Certificates in PEM, as settings and definitions hold them: text between their blocks does not matter. */
import { X509Certificate } from 'node:crypto'

const BLOCK = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

/** What keeps a text from being used as certificates; undefined if nothing does. */
export function certificatesProblem (text: string): string | undefined {
  const blocks = text.match(BLOCK)
  if (blocks === null) return 'there is no PEM block of type CERTIFICATE'
  try {
    for (const block of blocks) new X509Certificate(block).raw.at(0)
    return undefined
  } catch {
    return 'a PEM block is no certificate'
  }
}
