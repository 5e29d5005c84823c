/** The CA bundle that pods verify the server with, as it stands in a ConfigMap of each namespace. */
import { X509Certificate } from 'node:crypto'
import type { ApiObject } from '../schemas/index.js'
import { sameValue } from '../schemas/index.js'

export interface RootCA {
  /** PEM, of one or several certificates. */
  readonly certificates: string
  /**
   * All servers of the cluster have the same. Else what other servers have put into the bundle stays, as long as it is valid.
   * Default false.
   */
  readonly shared?: boolean
}

export const ROOT_CA = 'orch-root-ca.crt'
const FIELD = 'ca.crt'
const DESCRIPTION = 'orch.io/description'
const TEXT = 'Contains a CA bundle that can be used to verify the API server at its internal endpoints, such as the service IP or orch.default.svc. No other use is guaranteed.'
const BLOCK = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g
/** Servers that have certificates of their own, and those they had before. */
const MOST = 20

export interface ConfigMap extends ApiObject { data?: Record<string, string> | undefined, binaryData?: unknown }

/** As it should be, from what is there; undefined where it is already. */
export function wantedRootCA (rootCA: RootCA, there: ConfigMap | undefined, now = Date.now()): Pick<ConfigMap, 'data' | 'metadata'> | undefined {
  const data = { [FIELD]: bundle(rootCA, there?.data?.[FIELD] ?? '', now) }
  if (there !== undefined && sameValue(there.data, data) && (there.metadata.annotations?.[DESCRIPTION] ?? '') !== '') return undefined
  const metadata = there?.metadata ?? { name: ROOT_CA }
  return { data, metadata: { ...metadata, annotations: { ...metadata.annotations, [DESCRIPTION]: metadata.annotations?.[DESCRIPTION] ?? TEXT } } }
}

function bundle ({ certificates, shared = false }: RootCA, there: string, now: number): string {
  const ours = blocksOf(certificates)
  if (shared) return join(ours)
  const others = blocksOf(there).filter(block => !ours.includes(block) && isValid(block, now))
  // In the order in which they came, so that no two servers go on changing it.
  const kept = blocksOf(there).filter(block => ours.includes(block) || others.includes(block))
  return join([...kept, ...ours.filter(block => !kept.includes(block))].slice(-MOST))
}

const blocksOf = (pem: string): string[] => [...new Set((pem.match(BLOCK) ?? []).map(block => block.replaceAll('\r', '').trim()))]
const join = (blocks: readonly string[]): string => blocks.map(block => `${block}\n`).join('')

function isValid (block: string, now: number): boolean {
  try {
    return Date.parse(new X509Certificate(block).validTo) > now
  } catch {
    return false
  }
}
