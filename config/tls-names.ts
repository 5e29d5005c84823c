/** Maps IANA names of TLS versions, cipher suites and groups to Node's. What Node lacks is rejected. */
import { createSecureContext, getCiphers, type SecureVersion } from 'node:tls'

const VERSIONS = {
  VersionTLS10: 'TLSv1', VersionTLS11: 'TLSv1.1', VersionTLS12: 'TLSv1.2', VersionTLS13: 'TLSv1.3'
} as const satisfies Record<string, SecureVersion>

export type TlsVersion = keyof typeof VERSIONS
export const TLS_VERSIONS =
  ['VersionTLS10', 'VersionTLS11', 'VersionTLS12', 'VersionTLS13'] as const satisfies readonly TlsVersion[]

/** Default TLS 1.2. */
export const secureVersion = (name: TlsVersion | ''): SecureVersion => VERSIONS[name === '' ? 'VersionTLS12' : name]

const SUITES: Record<string, string> = {
  TLS_AES_128_GCM_SHA256: 'TLS_AES_128_GCM_SHA256',
  TLS_AES_256_GCM_SHA384: 'TLS_AES_256_GCM_SHA384',
  TLS_CHACHA20_POLY1305_SHA256: 'TLS_CHACHA20_POLY1305_SHA256',
  TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256: 'ECDHE-ECDSA-AES128-GCM-SHA256',
  TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384: 'ECDHE-ECDSA-AES256-GCM-SHA384',
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-ECDSA-CHACHA20-POLY1305',
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305: 'ECDHE-ECDSA-CHACHA20-POLY1305',
  TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256: 'ECDHE-RSA-AES128-GCM-SHA256',
  TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384: 'ECDHE-RSA-AES256-GCM-SHA384',
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-RSA-CHACHA20-POLY1305',
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305: 'ECDHE-RSA-CHACHA20-POLY1305',
  TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA: 'ECDHE-ECDSA-AES128-SHA',
  TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256: 'ECDHE-ECDSA-AES128-SHA256',
  TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA: 'ECDHE-ECDSA-AES256-SHA',
  TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA: 'ECDHE-RSA-AES128-SHA',
  TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256: 'ECDHE-RSA-AES128-SHA256',
  TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA: 'ECDHE-RSA-AES256-SHA',
  TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA: 'ECDHE-RSA-DES-CBC3-SHA',
  TLS_ECDHE_ECDSA_WITH_RC4_128_SHA: 'ECDHE-ECDSA-RC4-SHA',
  TLS_ECDHE_RSA_WITH_RC4_128_SHA: 'ECDHE-RSA-RC4-SHA',
  TLS_RSA_WITH_AES_128_GCM_SHA256: 'AES128-GCM-SHA256',
  TLS_RSA_WITH_AES_256_GCM_SHA384: 'AES256-GCM-SHA384',
  TLS_RSA_WITH_AES_128_CBC_SHA: 'AES128-SHA',
  TLS_RSA_WITH_AES_128_CBC_SHA256: 'AES128-SHA256',
  TLS_RSA_WITH_AES_256_CBC_SHA: 'AES256-SHA',
  TLS_RSA_WITH_3DES_EDE_CBC_SHA: 'DES-CBC3-SHA',
  TLS_RSA_WITH_RC4_128_SHA: 'RC4-SHA'
}

const suiteOf = (name: string): string | undefined => Object.hasOwn(SUITES, name) ? SUITES[name] : undefined

/** TLS 1.3 suites name no key exchange. */
export const belongsToTls13 = (name: string): boolean => !name.includes('_WITH_')

let available: ReadonlySet<string> | undefined

export function cipherProblem (name: string): string | undefined {
  const suite = suiteOf(name)
  if (suite === undefined) {
    return 'is not a known cipher suite; they have names such as TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256'
  }
  available ??= new Set(getCiphers())
  return available.has(suite.toLowerCase()) ? undefined : 'is not offered by this runtime; leave it out'
}

/**
 * OpenSSL's cipher string; undefined for the default. TLS below 1.2 uses SHA-1 signatures, which need security level 0.
 */
export function cipherString (names: readonly string[], version: TlsVersion | ''): string | undefined {
  const level = version === 'VersionTLS10' || version === 'VersionTLS11' ? ['@SECLEVEL=0'] : []
  const suites = names.flatMap(name => suiteOf(name) ?? [])
  if (suites.length === 0) return level.length === 0 ? undefined : ['DEFAULT', ...level].join(':')
  return [...suites, ...level].join(':')
}

/** Groups of the key exchange by their IANA numbers, those that the public project names. */
const CURVES: ReadonlyMap<string, string> = new Map([
  ['23', 'P-256'], ['24', 'P-384'], ['25', 'P-521'], ['29', 'X25519'], ['4587', 'SecP256r1MLKEM768'],
  ['4588', 'X25519MLKEM768'], ['4589', 'SecP384r1MLKEM1024']
])

export function curveProblem (number: string): string | undefined {
  const name = CURVES.get(number)
  if (name === undefined) return `is not the number of a known group; they are ${[...CURVES.keys()].join(', ')}`
  try {
    createSecureContext({ ecdhCurve: name })
    return undefined
  } catch {
    return `(${name}) is not offered by this runtime; leave it out`
  }
}

/** OpenSSL's list of groups; undefined for the default. */
export const curveString = (numbers: readonly string[]): string | undefined =>
  numbers.length === 0 ? undefined : numbers.flatMap(number => CURVES.get(number) ?? []).join(':')
