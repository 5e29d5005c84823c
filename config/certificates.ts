/** Reads and validates PEM certificates and their keys. */
import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto'
import { isIP } from 'node:net'
import { FlagError } from './flag.js'
import { currentText, readFile, reasonOf } from './files.js'
import type { FlagName } from './flags/index.js'

/** A certificate chain and its private key. */
export interface Pair {
  /** PEM. */
  readonly certificate: string
  readonly key: string
}

const BLOCK = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g

/** Parses the certificates of a PEM text. @throws Error if there is none or one is invalid */
export function parseCertificates (pem: string): X509Certificate[] {
  const blocks = pem.match(BLOCK) ?? []
  if (blocks.length === 0) throw new Error('it has no CERTIFICATE block in PEM')
  return blocks.map((block, index) => {
    try {
      return new X509Certificate(block)
    } catch {
      throw new Error(`its certificate number ${index + 1} cannot be parsed`)
    }
  })
}

/** @throws Error if it has no key or an encrypted one */
export function parseKey (pem: string): KeyObject {
  try {
    return createPrivateKey(pem)
  } catch (error) {
    if (pem.includes('ENCRYPTED')) { // in the label of PKCS #8, in a header of older forms
      throw new Error('the key is encrypted; give one that is not', { cause: error })
    }
    throw new Error('it has no private key in PEM', { cause: error })
  }
}

/** @throws Error describing the problem */
export function checkPair ({ certificate, key }: Pair): X509Certificate {
  const [leaf] = parseCertificates(certificate)
  if (leaf === undefined) throw new Error('it has no certificate')
  if (!leaf.checkPrivateKey(parseKey(key))) throw new Error('the private key does not belong to the first certificate')
  return leaf
}

export interface PairFlags {
  readonly certificate: FlagName
  readonly key: FlagName
}

/** Reads a certificate and its key. @throws FlagError */
export function readPair (flags: PairFlags, certificatePath: string, keyPath: string): Pair {
  const certificate = readFile(flags.certificate, certificatePath)
  const key = readFile(flags.key, keyPath)
  named(flags.certificate, certificatePath, () => parseCertificates(certificate))
  named(flags.key, keyPath, () => parseKey(key))
  named(flags.key, keyPath, () => checkPair({ certificate, key }))
  return { certificate, key }
}

/** Reads a pair again, whose files may be in the middle of a change. @throws Error that names a file */
export async function renewedPair (certificatePath: string, keyPath: string): Promise<Pair> {
  const pair = { certificate: await currentText(certificatePath), key: await currentText(keyPath) }
  try {
    checkPair(pair)
  } catch (error) {
    throw new Error(`${certificatePath} with ${keyPath}: ${reasonOf(error)}`, { cause: error })
  }
  return pair
}

/** Reads a CA bundle. @throws FlagError */
export function readBundle (flag: FlagName, path: string): string {
  const pem = readFile(flag, path)
  named(flag, path, () => parseCertificates(pem))
  return pem
}

function named<T> (flag: FlagName, path: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw new FlagError(flag, path, error instanceof Error ? error.message : String(error), { cause: error })
  }
}

/** Host names of a certificate, in lower case: its alternative names, else its common name. */
export function namesOf (certificate: X509Certificate): string[] {
  const alternatives = [...(certificate.subjectAltName ?? '').matchAll(/(?:^|, )DNS:("(?:[^"\\]|\\.)*"|[^,]+)/g)]
    .map(([, name = '']) => name)
  const common = /^CN=(.+)$/m.exec(certificate.subject)?.[1] ?? ''
  const names = alternatives.length > 0 ? alternatives : [common]
  return names.map(name => name.toLowerCase())
    .filter(name => /^(?:\*\.)?[a-z0-9_](?:[a-z0-9_.-]{0,251}[a-z0-9_])?$/.test(name) && isIP(name) === 0)
}
