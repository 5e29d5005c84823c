/**
 * The interface of admission, the last check before a write is validated and stored. Operations call it on every
 * attempt of an update, so it always sees what will be written. Mutating plugins run first, in catalogue order;
 * validating plugins run after validation.
 */
import type { UserInfo } from '../schemas/meta/user-info.js'
import type { ApiObject } from '../schemas/meta/api-object.js'
import type { FieldError } from '../schemas/status.js'
import type { Span } from './trace.js'
import type { Backend, Revision } from '../storage/backend.js'

export type AdmissionOperation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'

/** An object that an admission decision depends on, at the version that was read. */
export interface Precondition {
  readonly backend: Backend
  readonly key: string
  readonly revision: Revision
  /** Reads the newest state and returns whether the decision would still be the same. */
  readonly holds: () => Promise<boolean>
}

/** Reads other stored objects, from the caches or, without a cache, from the store. */
export interface AdmissionReader {
  /** Undefined for a missing object or an unknown resource. The result is shared: treat it as frozen. */
  get: (group: string, resource: string, namespace: string, name: string) => Promise<ApiObject | undefined>
  /**
   * '' for all namespaces. The results are shared: treat them as frozen.
   * @param labels that the objects must have. Default all objects.
   */
  list: (
    group: string, resource: string, namespace: string, labels?: Readonly<Record<string, string>>
  ) => Promise<ApiObject[]>
}

/** Copies of the object before and after webhooks or host plugins changed it. */
export interface ForeignChange {
  readonly before: Record<string, unknown>
  readonly after: Record<string, unknown>
}

export interface AdmissionRequest {
  readonly operation: AdmissionOperation
  /** Group and version of the stored object; the request may use another version. */
  readonly group: string
  readonly version: string
  readonly resource: string
  readonly subresource: string
  readonly kind: string
  /** The representation that the request used. */
  readonly requested: {
    readonly group: string, readonly version: string, readonly kind: string, readonly plural: string
  }
  readonly namespace: string
  /** '' on CREATE until the name is generated. */
  readonly name: string
  /** Of the request, such as update or patch; undefined for writes that the server makes itself. */
  readonly verb?: string | undefined
  readonly user: UserInfo | undefined
  readonly dryRun: boolean
  /** The current span, for plugins that call other servers. Undefined for requests that the server makes itself. */
  readonly trace?: Span | undefined
  /** Options that the client sent, such as `fieldManager` or `propagationPolicy`. */
  readonly options: Readonly<Record<string, unknown>>
  /** The object to write, in its stored form; mutating plugins change it in place. Undefined on DELETE. */
  readonly object: Record<string, unknown> | undefined
  /** The current object; undefined on CREATE, and on DELETE of a damaged object. */
  readonly oldObject: Record<string, unknown> | undefined
  /**
   * Returns a copy of a stored object, converted to another version of its type.
   * @throws TypeError for an unknown version
   */
  readonly convert: (object: Record<string, unknown>, apiVersion: string) => Record<string, unknown>
  readonly reader: AdmissionReader
  /** Aborted when the client no longer waits. */
  readonly signal: AbortSignal
  /** Adds a Warning header to the response. */
  readonly warn: (text: string) => void
  /**
   * Adds an annotation to the audit event; the key begins with the name of the plugin.
   * @param level the lowest audit level that records it. Default Metadata; use Request for annotations that contain a
   * part of the object.
   */
  readonly annotate: (key: string, value: string, level?: 'Metadata' | 'Request') => void
  /** Reports how long a webhook call took. `together` is true for calls that ran in parallel. */
  readonly waited?: ((milliseconds: number, together: boolean) => void) | undefined
}

/** Which requests a plugin handles. `*` matches all. */
export interface AdmissionRule {
  readonly operations: readonly AdmissionOperation[] | '*'
  readonly groups: readonly string[] | '*'
  /**
   * `pods`, `pods/status` or `pods/*`; `*` matches every resource without subresources, a star on both sides of the
   * slash matches everything.
   */
  readonly resources: readonly string[] | '*'
}

/** One run of a request through all mutating plugins. Its identity distinguishes it from other runs. */
export interface Pass {
  /** 1 during the reinvocation. */
  readonly round: 0 | 1
  /** Requests a reinvocation, because a webhook changed the object. At most one takes place. */
  readonly again: () => void
  /**
   * For the server's own plugins: call it before foreign code changes the object.
   * @returns a function to call afterwards; undefined if nobody wants to know
   */
  readonly beforeForeign: (object: AdmissionRequest['object']) => (() => void) | undefined
}

/** All admission plugins of a server. Implemented by `admission/chain.ts`. */
export interface Admission {
  /**
   * @param tracksForeign whether the caller wants to know what foreign code changes. Default no.
   * @returns that: the creator of a new object owns it, nobody the other changes that plugins make
   * @throws StatusError of the plugin that refuses; 400 when a dry run would have side effects
   */
  mutate: (request: AdmissionRequest, tracksForeign?: boolean) => Promise<readonly ForeignChange[]>
  /** @returns what plugins add to the findings of validation */
  findings?: (request: AdmissionRequest) => readonly FieldError[] | Promise<readonly FieldError[]>
  /** @returns the preconditions of all plugins that have one @throws StatusError of the plugin that refuses */
  validate: (request: AdmissionRequest) => Promise<readonly Precondition[]>
}

export interface AdmissionPlugin {
  readonly name: string
  /** True if a request changes something besides the object; dry runs are then refused. */
  readonly sideEffects?: boolean
  /** True to run again after a later plugin changed the object. */
  readonly reinvocation?: boolean
  /** The requests it handles: rules, or a predicate. */
  readonly handles: readonly AdmissionRule[] | ((request: AdmissionRequest) => boolean)
  /**
   * Runs before the server prepares the object; may change `request.object`. Throws a StatusError to refuse. Must be
   * idempotent: it runs again when a webhook changed the object.
   */
  mutate?: (request: AdmissionRequest, pass: Pass) => void | Promise<void>
  /**
   * Findings of rules that need more than the object, such as permissions; answered with those of validation. Must not
   * change anything.
   */
  findings?: (request: AdmissionRequest) => readonly FieldError[] | Promise<readonly FieldError[]>
  /**
   * Runs after validation; must not change anything. Throws a StatusError to refuse.
   * @returns on CREATE, what the decision depends on: the object is created only while that holds, and is validated
   * again otherwise
   */
  validate?: (request: AdmissionRequest) => Precondition | void | Promise<Precondition | void>
}

/** A request for objects of one type. */
export interface TypedRequest<T extends ApiObject> extends Omit<AdmissionRequest, 'object' | 'oldObject'> {
  readonly object: T | undefined
  readonly oldObject: T | undefined
}

/** For plugins of several types: narrows the request to the type that its resource implies. */
export const typed = <T extends ApiObject>(request: AdmissionRequest): TypedRequest<T> =>
  request as unknown as TypedRequest<T>

export interface TypedPlugin<T extends ApiObject> extends Pick<AdmissionPlugin, 'name' | 'sideEffects'
  | 'reinvocation'> {
  readonly operations: readonly AdmissionOperation[]
  /** '' is the object itself, which is the default. */
  readonly subresources?: readonly string[]
  mutate?: (request: TypedRequest<T>, pass: Pass) => void | Promise<void>
  validate?: (request: TypedRequest<T>) => Precondition | void | Promise<Precondition | void>
}

/**
 * A plugin for one resource type, with statically typed objects: `pluginFor<Lease>({ group: 'coordination.orch.io',
 * plural: 'leases' }, …)`.
 */
export function pluginFor<T extends ApiObject> (
  { group, plural }: { readonly group: string, readonly plural: string }, plugin: TypedPlugin<T>
): AdmissionPlugin {
  const { operations, subresources = [''], ...rest } = plugin
  const resources = subresources.map(subresource => subresource === '' ? plural : `${plural}/${subresource}`)
  // The rules below admit only objects of this type.
  return {
    ...rest as unknown as Pick<AdmissionPlugin, 'name' | 'mutate' | 'validate'>,
    handles: [{ operations, groups: [group], resources }]
  }
}
