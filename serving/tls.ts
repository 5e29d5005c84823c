/**
 * TLS settings of the listener: the configured certificate or a self-signed one kept in --cert-dir, further
 * certificates by SNI, versions, cipher suites, and client certificate authorities.
 * @see interface, 'Server start-up options': --cert-dir, --tls-*, and --client-ca-file
 */
import { hostname } from 'node:os'
import { join } from 'node:path'
import { createSecureContext, type SecureContext, type SecureContextOptions, type TlsOptions } from 'node:tls'
import { makeFolder } from '../files/folders.js'
import { publicAddress } from '../config/addresses.js'
import { checkPair, namesOf, parseCertificates, readBundle, readPair, type Pair } from '../config/certificates.js'
import { ordinaryText, reasonOf } from '../config/files.js'
import { FlagError } from '../config/flag.js'
import type { Values } from '../config/flags/index.js'
import type { Parsed } from '../config/command-line.js'
import { selfSigned } from './certify.js'
import { replaceFile } from '../files/atomic-files.js'
import { cipherString, curveString, secureVersion } from '../config/tls-names.js'

/** Flags with CA bundles for client certificates. */
const AUTHORITY_FLAGS = ['client-ca-file', 'requestheader-client-ca-file'] as const

export interface TlsSetup {
  readonly options: TlsOptions
  /** The served certificates, whose files are watched. */
  readonly pairs: readonly ServedPair[]
  /** For `setSecureContext` after a change: the options with the current pairs and these authorities in PEM. */
  readonly context: (authorities: readonly string[]) => SecureContextOptions
  /** PEM of the certificate chain. */
  readonly chain: string
  /** Notes for the log. */
  readonly notes: readonly string[]
}

/** A served certificate and the files it comes from. */
export interface ServedPair {
  readonly flag: 'tls-cert-file' | 'cert-dir' | 'tls-sni-cert-key'
  readonly files: Pair
  /** Replaced when the files change. */
  current: Pair
}

/** Reads and validates all files. @throws FlagError */
export function tlsSetup ({ values, given }: Parsed): TlsSetup {
  const { served, notes } = servingPair(values, given.has('cert-dir'))
  const authorities = AUTHORITY_FLAGS.flatMap(flag => values[flag] === '' ? [] : [readBundle(flag, values[flag])])
  const ciphers = cipherString(values['tls-cipher-suites'], values['tls-min-version'])
  const groups = curveString(values['tls-curve-preferences'])
  const sharedBy = (ca: readonly string[]): SecureContextOptions => ({
    minVersion: secureVersion(values['tls-min-version']),
    ...(ciphers === undefined ? {} : { ciphers }),
    ...(groups === undefined ? {} : { ecdhCurve: groups }),
    ...(ca.length === 0 ? {} : { ca: [...ca] })
  })
  const shared = sharedBy(authorities)
  try {
    createSecureContext({ ...shared, ...contextOf(served) })
  } catch (error) {
    const flag = values['tls-cert-file'] === '' ? 'tls-cipher-suites' : 'tls-cert-file'
    throw new FlagError(
      flag, given.get(flag), `is not accepted by the TLS library: ${reasonOf(error)}`, { cause: error }
    )
  }
  const others = namedPairs(values['tls-sni-cert-key'])
  let named = contextsOf(others, shared)
  return {
    notes,
    pairs: [served, ...others],
    context: ca => {
      named = contextsOf(others, sharedBy(ca))
      return { ...sharedBy(ca), ...contextOf(served) }
    },
    chain: served.current.certificate,
    options: {
      ...shared,
      ...contextOf(served),
      requestCert: authorities.length > 0,
      rejectUnauthorized: false, // clients may use tokens instead; authentication checks certificates
      ...(named.length === 0 ? {} : { SNICallback: (name, done) => { done(null, choose(named, name)) } })
    }
  }
}

const contextOf = ({ current: { certificate, key } }: ServedPair): SecureContextOptions => ({ cert: certificate, key })

function servingPair (values: Values, explicitDirectory: boolean): { served: ServedPair, notes: string[] } {
  if (values['tls-cert-file'] !== '') {
    const files = { certificate: values['tls-cert-file'], key: values['tls-private-key-file'] }
    return {
      served: {
        flag: 'tls-cert-file', files,
        current: readPair({ certificate: 'tls-cert-file', key: 'tls-private-key-file' }, files.certificate, files.key)
      },
      notes: []
    }
  }
  const directory = values['cert-dir']
  try {
    return keptPair(directory, values)
  } catch (error) {
    if (explicitDirectory) {
      throw new FlagError(
        'cert-dir', directory,
        `cannot keep a certificate there: ${reasonOf(error)}; name another folder or give --tls-cert-file`,
        { cause: error }
      )
    }
    // The default directory is not writable for ordinary users.
    const fallback = join(values['data-dir'], 'certs')
    try {
      const { served, notes } = keptPair(fallback, values)
      return {
        served,
        notes: [
          `the default --cert-dir ${directory} cannot be written to (${reasonOf(error)}): certificates are kept in ` +
            `${fallback}`,
          ...notes
        ]
      }
    } catch (second) {
      throw new FlagError(
        'cert-dir', directory,
        `cannot keep a certificate there (${reasonOf(error)}), nor in ${fallback} (${reasonOf(second)}); name ` +
          'another folder or give --tls-cert-file',
        { cause: second }
      )
    }
  }
}

/** Returns the certificate kept in a directory; creates one if it is missing, invalid or expired. */
function keptPair (directory: string, values: Values, now = new Date()): { served: ServedPair, notes: string[] } {
  const files = { certificate: join(directory, 'apiserver.crt'), key: join(directory, 'apiserver.key') }
  const { pair: kept, problem } = readKept(files, now)
  if (kept !== undefined) return { served: { flag: 'cert-dir', files, current: kept }, notes: [] }
  makeFolder(directory)
  const address = publicAddress(values)
  const services = ['orch', ...values['compat-names'] ? ['kubernetes'] : []]
    .flatMap(name => ['', '.default', '.default.svc', '.default.svc.cluster.local'].map(domain => name + domain))
  const names = new Set([address, '127.0.0.1', '::1', 'localhost', hostname().toLowerCase(), ...services])
  if (values['external-hostname'] !== '') {
    names.add(values['external-hostname'].replace(/:\d+$/, '').replace(/^\[|\]$/g, '').toLowerCase())
  }
  const pair = selfSigned(`${address}@${Math.floor(now.getTime() / 1000)}`, [...names], now)
  replaceFile(files.key, pair.key, 0o600)
  replaceFile(files.certificate, pair.certificate, 0o644)
  return {
    served: { flag: 'cert-dir', files, current: pair },
    notes: [
      `${problem === undefined ? 'wrote' : `${problem}: wrote`} a self-signed certificate for ${address} to ` +
        `${files.certificate}`
    ]
  }
}

function readKept (files: Pair, now: Date): { pair?: Pair, problem?: string } {
  let pair: Pair
  try {
    pair = { certificate: ordinaryText(files.certificate), key: ordinaryText(files.key) }
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ENOENT'
      ? {}
      : { problem: `the kept certificate cannot be read (${reasonOf(error)})` }
  }
  try {
    const leaf = checkPair(pair)
    if (new Date(leaf.validTo) <= now) return { problem: 'the kept certificate has expired' }
    if (new Date(leaf.validFrom) > now) return { problem: 'the kept certificate is of a clock that was ahead' }
    return { pair }
  } catch (error) {
    return { problem: `the kept certificate is unusable (${reasonOf(error)})` }
  }
}

export interface NamedPair {
  readonly names: readonly string[]
  /** True if the names come from the flag, not from the certificate. */
  readonly explicit: boolean
  readonly context: SecureContext
}

interface PairOfNames extends ServedPair {
  /** The names in the flag. */
  readonly patterns: readonly string[] | undefined
}

const contextsOf = (pairs: readonly PairOfNames[], shared: SecureContextOptions): NamedPair[] =>
  pairs.map(pair => ({
    names: pair.patterns ?? ownNames(pair.current), explicit: pair.patterns !== undefined,
    context: createSecureContext({ ...shared, ...contextOf(pair) })
  }))

function ownNames ({ certificate }: Pair): string[] {
  const [leaf] = parseCertificates(certificate)
  return leaf === undefined ? [] : namesOf(leaf)
}

function namedPairs (flags: readonly string[]): PairOfNames[] {
  return flags.map(value => {
    const [paths = '', domains] = value.split(':')
    const [certificate = '', key = ''] = paths.split(',')
    const current = readPair({ certificate: 'tls-sni-cert-key', key: 'tls-sni-cert-key' }, certificate, key)
    const patterns = domains?.toLowerCase().split(',')
    const names = patterns ?? ownNames(current)
    const bad = names.find(name => !/^(?:\*\.)?[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?$/.test(name))
    if (bad !== undefined) throw new FlagError('tls-sni-cert-key', value, `"${bad}" must be a domain or *.domain`)
    if (names.length === 0) {
      throw new FlagError('tls-sni-cert-key', value, 'the certificate names no domain; add patterns after a colon')
    }
    return { flag: 'tls-sni-cert-key', files: { certificate, key }, current, patterns }
  })
}

/**
 * Selects the certificate for a server name: exact names before wildcards, names from flags before names from
 * certificates, then in flag order; undefined for the default certificate.
 */
export function choose (pairs: readonly NamedPair[], serverName: string): SecureContext | undefined {
  const name = serverName.toLowerCase().replace(/\.$/, '')
  const wildcard = name.replace(/^[^.]+/, '*')
  for (const candidate of [name, wildcard]) {
    for (const explicit of [true, false]) {
      const match = pairs.find(pair => pair.explicit === explicit && pair.names.includes(candidate))
      if (match !== undefined) return match.context
    }
  }
  return undefined
}
