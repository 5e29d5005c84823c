/**
 * Without flags that name keys, generates a signing key for service account tokens and keeps it in --cert-dir. Also
 * sets the CA bundle that token Secrets contain.
 * @see interface, --service-account-key-file, --service-account-signing-key-file, --cert-dir
 */
import { join } from 'node:path'
import { parseCertificates } from '../config/certificates.js'
import { ordinaryText, reasonOf } from '../config/files.js'
import { FlagError } from '../config/flag.js'
import type { Parsed } from '../config/command-line.js'
import type { ServerOptions } from '../config/server-options.js'
import { makeSigningPem, signingKeyProblem } from '../config/service-accounts.js'
import { isEmbedded } from '../config/store.js'
import { authoritiesOf } from '../auth/authorities.js'
import { makeFolder } from '../files/folders.js'
import { createFile, replaceFile } from '../files/atomic-files.js'

const NAME = 'service-account.key'

/** Notes and warnings are for the log. */
interface ExistingKey { readonly key: string, readonly notes: readonly string[], readonly warnings: readonly string[] }

/** Completes the options. @param chain PEM of the serving certificate chain. @throws FlagError */
export function withServiceAccountKey (options: ServerOptions, parsed: Parsed, chain: string): {
  options: ServerOptions, notes: readonly string[], warnings: readonly string[]
} {
  const { authentication } = options
  const certificateAuthority = authorityOf(chain, authoritiesOf(authentication?.clientAuthorities ?? '').pem)
  const { 'service-account-key-file': files, 'service-account-signing-endpoint': endpoint } = parsed.values
  const kept = files.length > 0 || endpoint !== '' ? undefined : keptKey(parsed)
  return {
    options: {
      ...options,
      authentication: {
        ...authentication,
        serviceAccounts: {
          ...authentication?.serviceAccounts, ...(kept === undefined ? {} : { signingKey: kept.key }),
          ...(certificateAuthority === undefined ? {} : { certificateAuthority })
        }
      }
    },
    notes: kept?.notes ?? [],
    warnings: kept?.warnings ?? []
  }
}

function keptKey ({ values, given }: Parsed): ExistingKey {
  const directory = values['cert-dir']
  const own = isEmbedded(values)
    ? []
    : [
        'tokens of service accounts are signed with a key that this server alone has; for several servers give all ' +
          'the ' +
        'same --service-account-key-file, --service-account-signing-key-file and --service-account-issuer'
      ]
  const fallback = join(values['data-dir'], 'certs')
  // --cert-dir is ignored beside a given certificate, except that a key from before is still read there.
  const ignored = directory === '' || (values['tls-cert-file'] !== '' && !hasKey(directory))
  let problem: unknown
  for (const folder of ignored ? [fallback] : given.has('cert-dir') ? [directory] : [directory, fallback]) {
    try {
      const { warnings, ...kept } = keptIn(folder)
      return { ...kept, warnings: [...warnings, ...own] }
    } catch (error) {
      if (given.has('cert-dir') && !ignored) {
        const why = `cannot keep a key for tokens of service accounts there: ${reasonOf(error)}`
        const remedy = 'name another folder or give --service-account-key-file'
        throw new FlagError('cert-dir', directory, `${why}; ${remedy}`, { cause: error })
      }
      problem = error
    }
  }
  return {
    key: makeSigningPem(), notes: [],
    warnings: [
      `the key that signs tokens of service accounts cannot be kept in ${fallback} (${reasonOf(problem)}): they are ` +
        'good until this server ends; give --service-account-key-file, --service-account-signing-key-file and ' +
        '--service-account-issuer'
    ]
  }
}

/** Whether the folder has a usable key. */
function hasKey (folder: string): boolean {
  try {
    return signingKeyProblem(ordinaryText(join(folder, NAME))) === undefined
  } catch {
    return false
  }
}

/** @throws Error of the system */
function keptIn (folder: string): ExistingKey {
  const path = join(folder, NAME)
  const read = (): string => ordinaryText(path)
  let existing: string
  try {
    existing = read()
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error
    makeFolder(folder)
    const pem = makeSigningPem()
    if (createFile(path, pem, 0o600)) {
      return { key: pem, notes: [`wrote a key for tokens of service accounts to ${path}`], warnings: [] }
    }
    existing = read()
  }
  const problem = signingKeyProblem(existing)
  if (problem === undefined) return { key: existing, notes: [], warnings: [] }
  const pem = makeSigningPem()
  replaceFile(path, pem, 0o600)
  return {
    key: pem, notes: [],
    warnings: [
      `the kept key for tokens of service accounts is unusable (${problem}): wrote a new one to ${path}; tokens that ` +
        'it signed are refused'
    ]
  }
}

/**
 * Returns the CA certificate by which clients verify the chain: its root, or the issuer of its last certificate among
 * `others`.
 */
export function authorityOf (chain: string, others = ''): string | undefined {
  const last = parseCertificates(chain).at(-1)
  if (last === undefined) return undefined
  if (last.checkIssued(last)) return last.toString()
  const authorities = others === '' ? [] : parseCertificates(others)
  return authorities.find(candidate => last.checkIssued(candidate) && last.verify(candidate.publicKey))?.toString()
}
