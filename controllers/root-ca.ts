/** The CA bundle with which pods verify the server, published in a ConfigMap of each namespace. */
import { X509Certificate } from 'node:crypto'
import { sameValue } from '../schemas/language/values.js'
import type { ApiObject } from '../schemas/meta/api-object.js'

export interface RootCA {
  /** PEM of one or more certificates. */
  readonly certificates: string
  /**
   * True if all servers of the cluster have the same bundle. Otherwise valid certificates of other servers stay.
   * Default false.
   */
  readonly shared?: boolean
}

export const ROOT_CA = 'orch-root-ca.crt'
const FIELD = 'ca.crt'
const DESCRIPTION = 'orch.io/description'
const TEXT =
  'Contains a CA bundle that can be used to verify the API server at its internal endpoints, such as the service IP ' +
    'or orch.default.svc. No other use is guaranteed.'
const BLOCK = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g
/** Servers with their own certificates, current and previous. */
const MAX_CERTIFICATES = 20

export interface ConfigMap extends ApiObject { data?: Record<string, string> | undefined, binaryData?: unknown }

/** The desired data and metadata; undefined if nothing changes. @param now milliseconds since 1970 */
export function desiredRootCA (
  rootCA: RootCA, existing: ConfigMap | undefined, now: number
): Pick<ConfigMap, 'data' | 'metadata'> | undefined {
  const data = { [FIELD]: bundle(rootCA, existing?.data?.[FIELD] ?? '', now) }
  if (existing !== undefined && sameValue(existing.data, data) &&
    (existing.metadata.annotations?.[DESCRIPTION] ?? '') !== '') return undefined
  const metadata = existing?.metadata ?? { name: ROOT_CA }
  return {
    data, metadata: {
      ...metadata, annotations: { ...metadata.annotations, [DESCRIPTION]: metadata.annotations?.[DESCRIPTION] ?? TEXT }
    }
  }
}

function bundle ({ certificates, shared = false }: RootCA, existing: string, now: number): string {
  const ours = blocksOf(certificates)
  if (shared) return join(ours)
  const others = blocksOf(existing).filter(block => !ours.includes(block) && isValid(block, now))
  // Keep the existing order, so that servers do not alternate.
  const kept = blocksOf(existing).filter(block => ours.includes(block) || others.includes(block))
  return join([...kept, ...ours.filter(block => !kept.includes(block))].slice(-MAX_CERTIFICATES))
}

const blocksOf = (pem: string): string[] =>
  [...new Set((pem.match(BLOCK) ?? []).map(block => block.replaceAll('\r', '').trim()))]
const join = (blocks: readonly string[]): string => blocks.map(block => `${block}\n`).join('')

function isValid (block: string, now: number): boolean {
  try {
    return Date.parse(new X509Certificate(block).validTo) > now
  } catch {
    return false
  }
}
