/** Paths below an object, and what may be done there. */
import type { Message, Report } from './language/types.js'
import type { Column } from './columns.js'
import type { ApiObject } from './meta/api-object.js'
import type { ObjectMeta } from './meta/v1.js'
import type { UpdateRule } from './strategy.js'

export type ResourceVerb = 'create' | 'delete' | 'deletecollection' | 'get' | 'list' | 'patch' | 'update' | 'watch'
export const EVERY_VERB: readonly ResourceVerb[] = [
  'create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'
]

/** A path below an object, such as `status` or `scale`. */
export interface Subresource {
  readonly name: string
  readonly verbs: readonly ResourceVerb[]
  /** The kind of its body and response, if not the resource's own. */
  readonly kind?: string
  readonly group?: string
  readonly version?: string
  /** The fields only this subresource changes, such as `status`. If it has another kind, the fields it may change. */
  readonly changes?: readonly string[]
  /** Metadata members that it does not change either. */
  readonly keepsMetadata?: ReadonlyArray<keyof ObjectMeta>
  /** The feature gate, or the release, that serves it. Default: always served. */
  readonly gate?: string
  /** The first release without it. */
  readonly removed?: string
  /** It opens a connection to where the object runs and has no body. */
  readonly connects?: true
  /** Rules its updates skip. Default: the rule on generateName. */
  readonly notOnUpdate?: readonly UpdateRule[]
  /** Validation of its changes, besides field validation. */
  readonly validateUpdate?: (object: ApiObject, old: ApiObject, report: Report) => void
  /** Another message, read from and written into the object, such as `scale`. */
  readonly view?: SubresourceView
}

export interface SubresourceView {
  readonly message: Message<ApiObject>
  /** Builds the view of an object, metadata included. */
  readonly read: (object: ApiObject) => ApiObject
  /** Refuses objects that cannot be viewed. @throws StatusError */
  readonly check?: (object: ApiObject) => void
  /** Refuses a patched view, in JSON, that still lacks what the object lacked. @throws StatusError 400 */
  readonly checkPatched?: (view: unknown, before: ApiObject) => void
  /** Writes the client's view into the object, in place. */
  readonly write: (object: ApiObject, wanted: ApiObject) => void
  readonly validate?: (wanted: ApiObject, report: Report) => void
  readonly columns?: ReadonlyArray<Column<ApiObject>>
}
