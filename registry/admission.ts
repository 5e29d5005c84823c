/**
 * Admission: the last word on a change before it is validated and stored. Called from inside the operation, on every
 * attempt of an update, so that it always judges what will really be written. First all plugins that may change the
 * object, in the order of the catalogue; when it is validated, all that only judge.
 */
import type { UserInfo } from '../schemas/meta/user-info.js'
import type { ApiObject, Representation, ResourceType } from '../schemas/index.js'
import type { Span } from './trace.js'
import type { Backend, Revision } from '../storage/backend.js'

export type Operation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'

/** An object that a judgement rests on, at the version that was looked at. */
export interface Precondition {
  readonly backend: Backend
  readonly key: string
  readonly revision: Revision
  /** Looks again, at the newest state: whether the judgement would still be the same. */
  readonly holds: () => Promise<boolean>
}

/** Other objects of the server, as they are stored: from the caches, from the store where a cache has none. */
export interface AdmissionReader {
  /** Undefined for an object that is not there and for a resource that is unknown. Shared: treat it as frozen. */
  get: (group: string, resource: string, namespace: string, name: string) => Promise<ApiObject | undefined>
  /** '' for all namespaces. Shared: treat each as frozen. */
  list: (group: string, resource: string, namespace: string) => Promise<ApiObject[]>
}

export interface AdmissionRequest {
  readonly operation: Operation
  /** Of what is stored; a request may have been made in another version. */
  readonly group: string
  readonly version: string
  readonly resource: string
  readonly subresource: string
  readonly kind: string
  /** What the request was made in. */
  readonly requested: Pick<Representation, 'group' | 'version' | 'kind' | 'plural'>
  readonly namespace: string
  /** '' on CREATE while the name is still to be generated. */
  readonly name: string
  readonly user: UserInfo | undefined
  readonly dryRun: boolean
  /** The part of the request that is under way, for those who call others. Undefined where the server asks by itself. */
  trace?: Span | undefined
  /** As the client gave them: `fieldManager`, `propagationPolicy` and others of the operation. */
  readonly options: Readonly<Record<string, unknown>>
  /** The object to be written, as it is stored; a mutating plugin changes it in place. Undefined on DELETE. */
  readonly object: Record<string, unknown> | undefined
  /** What is there now; undefined on CREATE, and on DELETE of an object that is damaged. */
  readonly oldObject: Record<string, unknown> | undefined
  /** A stored object as another representation of its type has it, a copy of its own. @throws TypeError for an unknown one */
  readonly convert: (object: Record<string, unknown>, apiVersion: string) => Record<string, unknown>
  readonly reader: AdmissionReader
  /** Aborted when nobody waits for the outcome any more. */
  readonly signal: AbortSignal
  /** Adds a Warning header to the answer. */
  readonly warn: (text: string) => void
  /**
   * Adds an annotation to the audit event; its key begins with the name of the plugin.
   * @param level of the events that may have it. Default all: one that holds a part of the object is for those with bodies alone.
   */
  readonly annotate: (key: string, value: string, level?: 'Metadata' | 'Request') => void
  /**
   * On CREATE, for admission of the server's own: the object is written only if the basis is then still at that
   * version, else it is judged anew. One basis for each judgement; the last one counts.
   */
  readonly precondition: ((basis: Precondition) => void) | undefined
  /**
   * On CREATE, for admission of the server's own, before somebody else changes the object: what differs when the function it returns
   * is called belongs to whoever creates the object. All else that plugins do to a new object is nobody's.
   */
  readonly claim?: (() => () => void) | undefined
  /** For those who ask others: told of the milliseconds it took, `together` where several were asked at once. */
  readonly waited?: ((milliseconds: number, together: boolean) => void) | undefined
}

/** Which requests a plugin is for. `*` stands for any. */
export interface AdmissionRule {
  readonly operations: readonly Operation[] | '*'
  readonly groups: readonly string[] | '*'
  /** `pods`, `pods/status`, `pods/*`; `*` any resource, without its subresources; a slash and stars on both sides everything. */
  readonly resources: readonly string[] | '*'
}

/** The way of one request through all plugins that may change its object, and the value that tells it from other ones. */
export interface Pass {
  /** 1 when all run once more. */
  readonly round: 0 | 1
  /** Asks for that: the object has been changed by what is not known to the others. No more than once is done. */
  readonly again: () => void
}

/** All plugins of a server as the operations call them; `admission/chain.ts` fulfils it. */
export interface Admission {
  /** @throws StatusError of the plugin that refuses; 400 when a dry run would have side effects */
  mutate: (request: AdmissionRequest) => Promise<void>
  /** @throws StatusError of the plugin that refuses */
  validate: (request: AdmissionRequest) => Promise<void>
}

export interface AdmissionPlugin {
  readonly name: string
  /** True when a real request would change something outside the object: dry runs are then refused. */
  readonly sideEffects?: boolean
  /** True to run once more when a later plugin has changed the object. */
  readonly reinvocation?: boolean
  /** Requests it is for: by rules, or whatever a function says. */
  readonly handles: readonly AdmissionRule[] | ((request: AdmissionRequest) => boolean)
  /**
   * Runs before the server prepares the object; may change `request.object`. Throws a StatusError to refuse. Runs once more
   * when a webhook has changed the object, and so does to what it has done itself nothing further.
   */
  mutate?: (request: AdmissionRequest, pass: Pass) => void | Promise<void>
  /** Runs after validation; must not change anything. Throws a StatusError to refuse. */
  validate?: (request: AdmissionRequest) => void | Promise<void>
}

/** A request about objects of one type. */
export interface TypedRequest<T extends ApiObject> extends Omit<AdmissionRequest, 'object' | 'oldObject'> {
  readonly object: T | undefined
  readonly oldObject: T | undefined
}

/** For plugins of several types, which know by the resource what they are handed: an object that was decoded by its message. */
export const typed = <T extends ApiObject>(request: AdmissionRequest): TypedRequest<T> => request as unknown as TypedRequest<T>

export interface TypedPlugin<T extends ApiObject> extends Pick<AdmissionPlugin, 'name' | 'sideEffects' | 'reinvocation'> {
  readonly operations: readonly Operation[]
  /** '' for the object itself. Default that alone. */
  readonly subresources?: readonly string[]
  mutate?: (request: TypedRequest<T>, pass: Pass) => void | Promise<void>
  validate?: (request: TypedRequest<T>) => void | Promise<void>
}

/** A plugin for one type, whose objects it gets with their static type. */
export function pluginFor<T extends ApiObject> ({ group, plural }: ResourceType, plugin: TypedPlugin<T>): AdmissionPlugin {
  const { operations, subresources = [''], ...rest } = plugin
  const resources = subresources.map(subresource => subresource === '' ? plural : `${plural}/${subresource}`)
  // It is handed objects of this type alone, decoded by its message.
  return { ...rest as unknown as Pick<AdmissionPlugin, 'name' | 'mutate' | 'validate'>, handles: [{ operations, groups: [group], resources }] }
}
