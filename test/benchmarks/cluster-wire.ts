/** The protobuf form under public names, as the programs of a cluster speak it. */
import { Binding } from '../../schemas/api/core/bindings.js'
import { ConfigMap } from '../../schemas/api/core/configmaps.js'
import { Event as CoreEvent } from '../../schemas/api/core/events.js'
import { Node } from '../../schemas/api/core/nodes.js'
import { Pod } from '../../schemas/api/core/pods.js'
import { Service } from '../../schemas/api/core/services.js'
import { ReplicaSet } from '../../schemas/api/apps/replicasets.js'
import { TokenRequest } from '../../schemas/api/authentication/tokenrequests.js'
import { Lease } from '../../schemas/api/coordination/leases.js'
import { EndpointSlice } from '../../schemas/api/discovery/v1.js'
import { Event } from '../../schemas/api/events/v1.js'
import { decodeMessage, openEnvelope } from '../../schemas/codec/protobuf/decode.js'
import { encodeMessage, envelopeOf } from '../../schemas/codec/protobuf/encode.js'
import { BYTES, Reader } from '../../schemas/codec/protobuf/wire.js'
import { decode } from '../../schemas/language/decode.js'
import { Facts, type Message } from '../../schemas/language/types.js'
import { ListMeta, ObjectMeta } from '../../schemas/meta/object.js'
import type { Json } from '../build.js'

export const PROTOBUF = 'application/vnd.kubernetes.protobuf'
/** What clients accept: JSON of what has no protobuf form. */
export const ACCEPTED = `${PROTOBUF}, application/json`
export const ACCEPTED_EVENTS = `${PROTOBUF};stream=watch, application/json`

const publicly = (apiVersion: string): string => apiVersion.replace('.orch.io/', '.k8s.io/')

const MESSAGES = new Map([
  Binding, ConfigMap, CoreEvent, Node, Pod, Service, ReplicaSet, TokenRequest, Lease, EndpointSlice, Event
].map(message => {
  const { type } = message[Facts]
  return [`${publicly(type?.apiVersion ?? '')} ${type?.kind ?? ''}`, message as Message<Json>]
}))

function messageOf (apiVersion: string, kind: string): Message<Json> {
  const found = MESSAGES.get(`${apiVersion} ${kind}`)
  if (found === undefined) throw new Error(`no message for ${apiVersion} ${kind}`)
  return found
}

/** A body; a literal or what was decoded here. */
export function encoded (object: Json): Buffer {
  const { apiVersion, kind, ...members } = object as { readonly apiVersion: string, readonly kind: string }
  const message = messageOf(apiVersion, kind)
  return envelopeOf({ apiVersion, kind }, encodeMessage(message, decode(message, members).object))
}

/** An answer; of a Status and of objects that nobody here reads only the kind. */
export function decoded (bytes: Uint8Array): Json {
  const { apiVersion, kind, raw } = openEnvelope(bytes)
  const message = MESSAGES.get(`${apiVersion} ${kind}`)
  return message === undefined ? { kind } : decodeMessage(message, raw, { apiVersion, kind })
}

/** The members of a message that are bytes, by number. */
function * membersOf (bytes: Uint8Array): Generator<readonly [number: number, value: Uint8Array]> {
  const reader = new Reader(bytes)
  while (reader.at < reader.end) {
    const tag = reader.varint(reader.end)
    if ((tag & 7) === BYTES) yield [tag >>> 3, reader.bytes(reader.end)]
    else reader.skip(tag & 7, reader.end)
  }
}

/** Reads what is asked of an object: all of it, or its metadata alone. */
function objectOf (
  type: { readonly apiVersion: string, readonly kind: string }, raw: Uint8Array, isWhole: boolean
): Json {
  if (isWhole) return decodeMessage(messageOf(type.apiVersion, type.kind), raw, { ...type })
  for (const [number, value] of membersOf(raw)) {
    if (number === 1) return { metadata: decodeMessage(ObjectMeta, value) }
  }
  return { metadata: {} }
}

export interface List { readonly version: string, readonly rest: number, readonly items: readonly Json[] }

/** @param isWhole otherwise items have only their metadata */
export function listOf (bytes: Uint8Array, isWhole: boolean): List {
  const { apiVersion, kind, raw } = openEnvelope(bytes)
  const type = { apiVersion, kind: kind.replace(/List$/, '') }
  let [version, rest] = ['', 0]
  const items: Json[] = []
  for (const [number, value] of membersOf(raw)) {
    if (number === 2) items.push(objectOf(type, value, isWhole))
    else if (number === 1) {
      const { resourceVersion = '', remainingItemCount } = decodeMessage(ListMeta, value)
      version = resourceVersion
      rest = Number(remainingItemCount ?? 0)
    }
  }
  return { version, rest, items }
}

const LENGTH_BYTES = 4

/** Cuts the stream of a watch into its events. */
export class Frames {
  #rest: Buffer = Buffer.alloc(0)

  read (piece: Buffer, isWhole: boolean): Array<readonly [type: string, object: Json]> {
    const events: Array<readonly [type: string, object: Json]> = []
    let bytes = this.#rest.length === 0 ? piece : Buffer.concat([this.#rest, piece])
    while (bytes.length >= LENGTH_BYTES) {
      const end = LENGTH_BYTES + bytes.readUInt32BE()
      if (bytes.length < end) break
      events.push(eventOf(bytes.subarray(LENGTH_BYTES, end), isWhole))
      bytes = bytes.subarray(end)
    }
    this.#rest = bytes
    return events
  }
}

function eventOf (bytes: Uint8Array, isWhole: boolean): readonly [type: string, object: Json] {
  const members = new Map(membersOf(bytes))
  const type = Buffer.from(members.get(1) ?? []).toString()
  if (type === 'ERROR') return [type, {}]
  const extension = [...membersOf(members.get(2) ?? new Uint8Array(0))].find(([number]) => number === 1)
  const { apiVersion, kind, raw } = openEnvelope(extension?.[1] ?? new Uint8Array(0))
  return [type, objectOf({ apiVersion, kind }, raw, isWhole && type !== 'BOOKMARK')]
}
