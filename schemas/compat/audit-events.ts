/** Audit events under the public project's names. JSON patches stay as they were sent, and so do cells but the name. */
import { parseExactly } from '../codec/json/exact.js'
import { rawJson } from '../codec/json/escape.js'
import { isObject } from '../language/values.js'
import { escapeControls } from '../quote.js'
import type { Status } from '../status.js'
import { apiVersionOf } from '../groups.js'
import type { Message, Plain } from '../language/types.js'
import { PartialObjectMetadata } from '../meta/answers.js'
import { representations } from '../resources.js'
import { publicObject, publicStatus } from './objects.js'
import { shown, translateUserInfo } from './reviews.js'
import { publicWords } from './sentences.js'
import { namesOf, translateGroup, translateKey, translateNamespace } from './text.js'

const DOMAIN = /(?<=^|\.)orch\.io(?=\/)/

/** Most annotations have no other name than ours where they are kept: only events have them. */
function annotation (key: string): string {
  const other = translateKey(key)
  return other === key ? key.replace(DOMAIN, 'k8s.io') : other
}

const WHY = 'authorization.orch.io/reason'

function annotations (own: Plain): Plain {
  return Object.fromEntries(Object.entries(own)
    .map(([key, value]) => [annotation(key), key === WHY ? publicWords(String(value)) : value]))
}

function reference (own: Plain): Plain {
  const { namespace, apiGroup } = own
  return {
    ...named(own, own),
    ...typeof namespace === 'string' ? { namespace: translateNamespace(namespace) } : {},
    ...typeof apiGroup === 'string' ? { apiGroup: translateGroup(apiGroup) } : {}
  }
}

const status = (own: Plain): unknown => publicStatus(own as Omit<Status, 'code'>) // its kind or its place says so

/** Patches do not say what they are for. */
function patchOf ({ apiGroup, apiVersion, resource }: Plain): Message {
  const version = apiVersionOf(String(apiGroup ?? ''), String(apiVersion ?? ''))
  return representations.find(({ plural, apiVersion }) => plural === resource && apiVersion === version)?.message ??
    PartialObjectMetadata
}

/** Metadata alone, which does not say what it is of, and whose group is already the one that was asked for. */
function metadataOf (own: Plain, about: Plain): Plain {
  const { metadata, ...same } = publicObject<Plain>(PartialObjectMetadata, { ...own, apiVersion: '' })
  return { ...same, apiVersion: own['apiVersion'], metadata: isObject(metadata) ? named(metadata, about) : metadata }
}

function named ({ name, ...same }: Plain, { apiGroup = '', resource = '' }: Plain): Plain {
  if (name === undefined) return same
  return { name: namesOf(String(apiGroup), String(resource))?.(String(name)) ?? name, ...same }
}

const item = (own: unknown, about: Plain): unknown =>
  isObject(own) && own['kind'] === 'PartialObjectMetadata' ? metadataOf(own, about) : shown(own)

/** Rows have the objects; of the cells only the name of the object has another name. */
function row (own: Plain, about: Plain): Plain {
  const [name, ...cells] = Array.isArray(own['cells']) ? own['cells'] as unknown[] : []
  return { ...own, cells: [named({ name }, about)['name'], ...cells], object: item(own['object'], about) }
}

/** @param about what the request was about */
function object (own: Plain, about: Plain): unknown {
  const { kind, apiVersion, items, rows } = own
  if (kind === 'Status') return status(own)
  if (kind === undefined) return publicObject(patchOf(about), own)
  if (Array.isArray(rows)) return { ...own, rows: rows.map((of: Plain) => row(of, about)) }
  if (!Array.isArray(items)) return item(own, about)
  const group = kind === 'PartialObjectMetadataList' ? apiVersion : translateGroup(String(apiVersion))
  return { ...own, apiVersion: group, items: items.map(of => item(of, about)) }
}

const MEMBERS: Readonly<Record<string, (own: Plain, about: Plain) => unknown>> = {
  user: translateUserInfo,
  impersonatedUser: translateUserInfo,
  responseStatus: status,
  requestObject: object,
  responseObject: object,
  objectRef: reference,
  annotations
}

/** An event as JSON, without its group. */
export function publicEvent (own: string): string {
  const event = parseExactly(Buffer.from(own)) as Plain // this server wrote it
  const about = isObject(event['objectRef']) ? event['objectRef'] : {}
  for (const [member, translate] of Object.entries(MEMBERS)) {
    const value = event[member]
    if (isObject(value)) event[member] = translate(value, about)
  }
  return escapeControls(rawJson(event))
}
