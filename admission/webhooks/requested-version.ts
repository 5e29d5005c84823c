/**
 * Converts the object of a request to what a webhook or policy requires, and back: another version, the view of a
 * subresource, or unchanged for other kinds.
 */
import { toJson } from '../../schemas/codec/json/encode.js'
import { stringify } from '../../schemas/codec/json/exact.js'
import { decode, type Decoded } from '../../schemas/language/decode.js'
import { applyDefaults } from '../../schemas/language/defaults.js'
import { DEFAULT_GATES, type Gates } from '../../schemas/gates.js'
import type { SubresourceView } from '../../schemas/subresource.js'
import type { ApiObject } from '../../schemas/meta/api-object.js'
import type { Representation } from '../../schemas/resource.js'
import { Facts, type Message } from '../../schemas/language/types.js'
import type { ResourceRegistry, VirtualOperation } from '../../registry/resource-registry.js'
import type { ResourceStore } from '../../registry/resource-store.js'
import type { AdmissionRequest } from '../../registry/admission.js'
import type { Decode } from '../names.js'
import type { RequestedKind } from './hook-set.js'

export interface Kind { readonly group: string, readonly version: string, readonly kind: string }

type Members = Record<string, unknown>

/** A version to which this server converts. */
export interface DirectVersion {
  readonly kind: Kind
  readonly json: (object: Members) => string
  /** The object in that version; undefined for other kinds. */
  readonly shown: ((object: Members) => ApiObject) | undefined
  /** Undefined for connect options. */
  readonly message: Message | undefined
  readonly gates: Gates
  /**
   * Writes an object patched in that version back into the request's object.
   * @param decoding how it is read, default as a value under own names
   * @returns paths of undeclared members, which are dropped
   * @throws DecodeError if it does not match the kind
   */
  readonly put: (object: Members, changed: unknown, decoding?: Decode) => readonly string[]
}

export interface RequestedVersion extends Omit<DirectVersion, 'put'> {
  /** A promise if a webhook converts back, which rejects with a StatusError 500 if it fails. */
  readonly put: (...given: Parameters<DirectVersion['put']>) => readonly string[] | Promise<readonly string[]>
  /**
   * To be called before objects are shown, and again after they were changed in another version. Undefined if no
   * webhook converts. Rejects with a StatusError or DecodeError if it fails.
   */
  readonly prepare?: (objects: readonly Members[]) => Promise<void>
}

/** @param spoken the version that the hook's rules matched */
export function directVersionOf (
  request: AdmissionRequest, spoken: RequestedKind, resources: ResourceRegistry
): DirectVersion {
  const { store, representation } = spokenIn(request, spoken, resources)
  if (store === undefined || representation === undefined) return ofOther(request, undefined)
  const view = request.subresource === ''
    ? undefined
    : representation.subresources.find(({ name }) => name === request.subresource)?.view
  if (view !== undefined) return ofView(view)
  return request.kind === store.stored.kind
    ? ofVersion(store, representation, representation === request.requested)
    : ofOther(request, resources.operation(store.type, request.subresource))
}

/** Where a webhook converts between the versions of a type, each has a store of its own. */
function spokenIn (
  { group, resource }: AdmissionRequest, spoken: RequestedKind, resources: ResourceRegistry
): { readonly store: ResourceStore | undefined, readonly representation: Representation | undefined } {
  const isSpoken = (candidate: Representation): boolean => candidate.group === spoken.group &&
    candidate.version === spoken.version && candidate.plural === spoken.plural
  const store = resources.find(group, resource)
  const representation = store?.type.representations.find(isSpoken)
  if (store === undefined || representation !== undefined) return { store, representation }
  const own = resources.servedIn(spoken.group, spoken.version).find(served => isSpoken(served.representation))
  return { store: own, representation: own?.representation }
}

/** @param isOwn whether the request has that version too */
function ofVersion (
  { stored, gates }: ResourceStore, representation: Representation, isOwn: boolean
): DirectVersion {
  const { group, version, kind, message, conversion } = representation
  const omits = gates.enabled('UnsetTimesAreOmitted')
  const shown = (object: Members): ApiObject => {
    const typed = object as unknown as ApiObject // a stored object of the type
    return conversion?.fromStored(typed) ?? typed
  }
  return {
    kind: { group, version, kind },
    message,
    gates,
    json: object => toJson(message, shown(object), undefined, omits),
    shown,
    put: (object, changed, decoding) => {
      const { object: decoded, unknown } = read(message, changed, decoding, gates)
      const unpruned = isOwn ? conversion?.unpruned : undefined
      const whole = (unpruned ?? conversion?.toStored)?.(decoded) ?? decoded
      if (unpruned === undefined) applyDefaults(stored.message, whole, gates)
      replace(object, whole as unknown as Members)
      return unknown
    }
  }
}

/** With defaults. */
function read (
  message: Message<ApiObject>, value: unknown, decoding: Decode = decode, gates = DEFAULT_GATES
): Decoded<ApiObject> {
  const decoded = decoding(message, value)
  applyDefaults(message, decoded.object, gates)
  return decoded
}

function ofView (view: SubresourceView): DirectVersion {
  const { message } = view
  const shown = (object: Members): ApiObject => view.read(object as unknown as ApiObject) // of the subresource's type
  const { type } = message[Facts]
  return {
    kind: { group: type?.group ?? '', version: type?.version ?? '', kind: type?.kind ?? '' },
    message,
    gates: DEFAULT_GATES,
    json: object => toJson(message, shown(object)),
    shown,
    put: (object, changed, decoding) => {
      const { object: decoded, unknown } = read(message, changed, decoding)
      view.write(object as unknown as ApiObject, decoded)
      return unknown
    }
  }
}

/** Evictions, bindings and connect options have their own kind and a single version. */
function ofOther ({ kind, object }: AdmissionRequest, operation: VirtualOperation | undefined): DirectVersion {
  const { apiVersion = 'v1', kind: own = kind } = (object ?? {}) as { apiVersion?: string, kind?: string }
  const slash = apiVersion.indexOf('/')
  const { message: first, otherMessages = [] } = operation ?? {}
  const message = [...first === undefined ? [] : [first], ...otherMessages].find(({ [Facts]: { type } }) =>
    type?.apiVersion === apiVersion && type.kind === own)
  return {
    kind: { group: slash < 0 ? '' : apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1), kind: own },
    message,
    gates: DEFAULT_GATES,
    shown: undefined,
    json: object => stringify({ kind: own, apiVersion, ...object }) ?? 'null',
    put: (object, changed, decoding) => {
      const { object: whole, unknown } = message === undefined
        ? { object: changed, unknown: [] }
        : read(message, changed, decoding)
      replace(object, whole as Members)
      return unknown
    }
  }
}

/** In place, because others hold references to the object. */
function replace (object: Members, replacement: Members): void {
  for (const name of Object.keys(object)) if (!Object.hasOwn(replacement, name)) Reflect.deleteProperty(object, name)
  for (const [name, value] of Object.entries(replacement)) {
    Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true })
  }
}
