/**
 * Chooses the response format from an Accept header. Pure functions, used by the hook in negotiation.ts and by the
 * error handler. (Interface: Generic request shapes 3 and 4.)
 */
import { HTML_TYPE, JSON_TYPE, PROTOBUF_TYPE, YAML_TYPE } from '../../schemas/media-types.js'
import { DISCOVERY_GROUPS, META_GROUPS } from '../../schemas/public-names.js'
import type { Negotiated } from '../../answers/request-context.js'

const FORMATS: Readonly<Record<string, Negotiated['format']>> = {
  [JSON_TYPE]: 'json', [YAML_TYPE]: 'yaml', [PROTOBUF_TYPE]: 'protobuf'
}
export const MEDIA_TYPES = Object.keys(FORMATS)
const TRANSFORMS = new Set<string>(['Table', 'PartialObjectMetadata', 'PartialObjectMetadataList'])

/** Of all groups in one document; v2beta1 is no longer offered. */
const DISCOVERY = {
  as: 'APIGroupDiscoveryList',
  groups: DISCOVERY_GROUPS,
  version: 'v2'
} as const

interface Clause {
  readonly type: string, readonly parameters: Readonly<Record<string, string>>, readonly quality: number
}

const MAX_HEADER_LENGTH = 4096

/** Cuts an overlong header at the last complete clause. */
const bounded = (header: string): string =>
  header.length <= MAX_HEADER_LENGTH ? header : header.slice(0, Math.max(0, header.lastIndexOf(',', MAX_HEADER_LENGTH)))

/** Wildcard rank: among clauses of equal quality, more specific types come first. */
const range = ({ type }: Clause): number => type === '*/*' ? 2 : type.endsWith('/*') ? 1 : 0

/** Clauses of an Accept header, best first. Clauses with q=0 come last. */
export function parseAccept (header: string): Clause[] {
  const clauses = bounded(header).split(',').map(clause => {
    const [type = '', ...rest] = clause.split(';').map(part => part.trim())
    const parameters: Record<string, string> = {}
    for (const part of rest) {
      const at = part.indexOf('=')
      const name = (at < 0 ? part : part.slice(0, at)).trim().toLowerCase()
      if (name !== '' && name !== '__proto__') {
        parameters[name] = at < 0 ? '' : part.slice(at + 1).trim().replace(/^"(.*)"$/, '$1')
      }
    }
    const quality = parameters.q === undefined ? 1 : Number(parameters.q)
    return {
      type: type === '*' ? '*/*' : type.toLowerCase(),
      parameters,
      quality: Number.isFinite(quality) ? Math.min(Math.max(quality, 0), 1) : 0
    }
  }).filter(({ type }) => type !== '')
  return clauses.sort((one, other) => other.quality - one.quality || range(one) - range(other))
}

/** What an endpoint can produce. JSON is always available. */
export interface Available {
  readonly protobuf: boolean
  /** HTML, for those who name it: wildcards do not mean it. Default false. */
  readonly html?: boolean
  readonly watch: boolean
  /** All groups in one document, in every format. Default false. */
  readonly discovery?: boolean
  /** `metadata` allows all transforms except Table. */
  readonly transforms: boolean | 'metadata'
  /** The kind of metadata that this answer cannot be: that of a list for an object, that of an object for a list. */
  readonly unfit?: 'PartialObjectMetadata' | 'PartialObjectMetadataList'
}

/** Returns the first clause that can be served, or undefined when none can. A missing header means JSON. */
export function negotiate (header: string | undefined, available: Available): Negotiated | undefined {
  const clauses = header === undefined || header.trim() === ''
    ? [{ type: '*/*', parameters: {}, quality: 1 }]
    : parseAccept(header)
  for (const clause of clauses) {
    if (clause.quality === 0) continue
    for (const type of named(clause.type)) {
      if (type !== clause.type && clauses.some(other => other.quality === 0 && other.type === type)) continue
      const chosen = offered({ ...clause, type }, available)
      if (chosen !== undefined) return chosen
    }
  }
  return undefined
}

const PAGE = { format: 'json', as: undefined, asVersion: 'meta.orch.io/v1', pretty: true, page: true } as const

/** Concrete types that a media range matches, most preferred first. */
const named = (type: string): readonly string[] => type === '*/*' || type === 'application/*' ? MEDIA_TYPES : [type]

/** What a clause names, if the endpoint offers it. */
function offered ({ type, parameters }: Clause, available: Available): Negotiated | undefined {
  if (type === HTML_TYPE && available.html === true) return PAGE
  const format = Object.hasOwn(FORMATS, type) ? FORMATS[type] : undefined
  if (format === undefined) return undefined
  const { as, g, v } = parameters
  if (available.discovery === true && as === DISCOVERY.as && DISCOVERY.groups.has(g) && v === DISCOVERY.version) {
    return { format, as, asVersion: `${g}/${v}`, pretty: isPretty(parameters.pretty) }
  }
  if (format === 'protobuf' && !available.protobuf) return undefined
  if (available.watch && format === 'yaml') return undefined // no standard defines a stream of YAML documents
  if (parameters.stream && (!available.watch || parameters.stream !== 'watch')) return undefined
  if (as === undefined) {
    if (g !== undefined || v !== undefined) return undefined // a version of what it does not say
    return { format, as: undefined, asVersion: 'meta.orch.io/v1', pretty: isPretty(parameters.pretty) }
  }
  if (!available.transforms || !TRANSFORMS.has(as) || as === available.unfit) return undefined
  if (!META_GROUPS.has(g) || (v !== 'v1' && v !== 'v1beta1')) return undefined
  // Table has no protobuf form
  if (as === 'Table' && (format === 'protobuf' || available.transforms === 'metadata')) return undefined
  return {
    format, as: as as NonNullable<Negotiated['as']>, asVersion: `${g}/${v}`, pretty: isPretty(parameters.pretty)
  }
}

/** True for any value but `false` and `0`. */
export const isPretty = (value: string | null | undefined): boolean => value != null && value !== '' && value !== '0' &&
  value.toLowerCase() !== 'false'
