/**
 * `--local`: creates an administrator with a self-signed client certificate and a kubeconfig, both readable only by
 * their owner.
 */
import { X509Certificate } from 'node:crypto'
import { existsSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { checkPair, type Pair } from '../config/certificates.js'
import { hostPort, listenHost } from '../config/addresses.js'
import type { Parsed } from '../config/command-line.js'
import { ordinaryText, reasonOf } from '../config/files.js'
import { FlagError } from '../config/flag.js'
import { hasLocalAdministrator, localFiles } from '../config/local.js'
import { makeFolder } from '../files/folders.js'
import { replaceFile } from '../files/atomic-files.js'
import { certify } from './certify.js'
import { authorityOf } from './service-accounts.js'

const DAY = 86_400_000
const LIFETIME = 365 * DAY
/** At start, a certificate that expires within this time is replaced. */
const RENEWAL = 30 * DAY

/** The existing administrator, or a new one. Undefined without `--local`. @throws FlagError */
export function localAdministrator (parsed: Parsed, now = new Date()): Pair | undefined {
  if (!hasLocalAdministrator(parsed)) return undefined
  const { values } = parsed
  const files = localFiles(values)
  try {
    const kept = keptPair(files)
    if (kept !== undefined && isValid(kept, now)) return kept
    makeFolder(values['data-dir'])
    makeFolder(dirname(files.key))
    const pair = certify({
      commonName: 'local-admin', organizations: ['system:masters'], uses: ['client'], authority: true,
      from: new Date(now.getTime() - DAY), until: new Date(now.getTime() + LIFETIME)
    })
    replaceFile(files.key, pair.key, 0o600)
    replaceFile(files.certificate, pair.certificate, 0o600)
    return pair
  } catch (error) {
    throw new FlagError(
      'data-dir', values['data-dir'],
      `cannot keep the administrator of --local there: ${reasonOf(error)}; name another folder`, { cause: error }
    )
  }
}

/** Not of a clock that was ahead, and valid for some time. */
function isValid ({ certificate }: Pair, now: Date): boolean {
  const { validFrom, validTo } = new X509Certificate(certificate)
  return Date.parse(validFrom) <= now.getTime() && Date.parse(validTo) - now.getTime() > RENEWAL
}

/** Undefined if a new pair is needed. */
function keptPair ({ certificate, key }: Pair): Pair | undefined {
  try {
    if ((statSync(key).mode & 0o077) !== 0) return undefined // other users may have read it
    const pair = { certificate: ordinaryText(certificate), key: ordinaryText(key) }
    checkPair(pair)
    return pair
  } catch {
    return undefined
  }
}

/** For those who begin: an API server alone is no cluster. */
export const NOTHING_RUNS =
  'nothing runs here: objects are stored, but no controller manager, scheduler or node acts on them'

/** Whether no start has written its kubeconfig yet. */
export const isFirstStart = ({ values }: Parsed): boolean => !existsSync(localFiles(values).kubeconfig)

/** Writes the kubeconfig. @param chain PEM of the serving certificate chain @returns its absolute path */
export function writeKubeconfig ({ values }: Parsed, administrator: Pair, chain: string): string {
  const { kubeconfig } = localFiles(values)
  const bound = listenHost(values['bind-address'])
  const server =
    `https://${hostPort(bound === '::' || bound === '0.0.0.0' ? '127.0.0.1' : bound, values['secure-port'])}`
  const authority = authorityOf(chain)
  const base64 = (pem: string): string => Buffer.from(pem).toString('base64')
  replaceFile(kubeconfig, `apiVersion: v1
kind: Config
clusters:
- name: orch
  cluster:
    server: ${server}
${authority === undefined ? '' : `    certificate-authority-data: ${base64(authority)}\n`}users:
- name: local-admin
  user:
    client-certificate-data: ${base64(administrator.certificate)}
    client-key-data: ${base64(administrator.key)}
contexts:
- name: orch
  context: {cluster: orch, user: local-admin}
current-context: orch
`, 0o600)
  return resolve(kubeconfig)
}
