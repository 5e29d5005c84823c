/** The caller and options of a write, the same for every verb. */
import type { UserInfo } from '../schemas/meta/user-info.js'
import { timestamp } from '../schemas/meta/time.js'
import type { ApiObject } from '../schemas/meta/api-object.js'
import { invalid, type FieldError } from '../schemas/status.js'
import type { AdmissionRequest } from './admission.js'
import type { Span } from './trace.js'
import type { ResourceStore } from './resource-store.js'

/** Who waits for a write, and where that reports to: the context of a request, or the server itself. */
export interface Caller {
  /** Default the server itself. */
  readonly user?: UserInfo | undefined
  /** The span of the request. Default none. */
  readonly trace?: Span
  /** Whether the client no longer waits: a write is not begun, but one that was sent completes. Default never. */
  readonly isGone?: boolean
  /** Aborted when `isGone` becomes true. Created when it is read first, so pass on the caller instead. */
  readonly signal: AbortSignal
  /** Whether it asked for a dry run. Default not. */
  readonly dryRun?: boolean
  /** Adds a Warning header to the response. Default ignored. */
  readonly warn?: (text: string) => void
  /** Adds an annotation to the audit event; of level Request if it contains parts of the object. Default ignored. */
  readonly annotate?: AdmissionRequest['annotate']
  /** Reports how long a webhook call took; calls made `together` ran in parallel. Default ignored. */
  readonly waitedFor?: (milliseconds: number, together: boolean) => void
}

export interface WriteContext {
  readonly caller: Caller
  /** Run every stage but the write. Default as the caller asked. */
  readonly dryRun?: boolean
  /** Of the request, such as update or patch. Default none. */
  readonly verb?: string
  /** Options that the client sent besides the object. Default none. */
  readonly options?: Readonly<Record<string, unknown>>
  /** The field manager; may be empty. Default the server itself. */
  readonly fieldManager?: string
  /**
   * Throws a StatusError 403 if the caller may update but not create. Called before an update creates. Default allowed.
   */
  readonly mayCreate?: () => Promise<void>
  /** Whether the caller may get an object. Refusals quote parts of it only then. Default true. */
  readonly mayGet?: (of: ObjectName) => Promise<boolean>
  /** Bytes of the request body, 0 or absent without one. */
  readonly size?: number
  /** True if the object may be far larger than the body, through YAML aliases or JSON patch copies. */
  readonly mayGrow?: boolean
  /**
   * Receives the paths of fields that were dropped because the emulated release does not have them. Default ignored.
   * @throws StatusError 400
   */
  readonly unknown?: (paths: readonly string[]) => void
  /** Finds names in what the request changes that have no effect. Default none. */
  readonly misnamed?: ((object: ApiObject, old: ApiObject | undefined) => readonly FieldError[]) | undefined
}

export const isDryRun = ({ dryRun, caller }: WriteContext): boolean => dryRun ?? caller.dryRun ?? false

/** A stored object, as authorizers know it. */
export interface ObjectName {
  readonly group: string
  readonly version: string
  readonly resource: string
  readonly namespace: string
  readonly name: string
}

/** A write of one object. */
export interface ObjectWrite { readonly store: ResourceStore, readonly target: Target, readonly context: WriteContext }

/** Whether the caller may get the object of a write, whatever the write's own verb and subresource are. */
export async function mayGet ({ store, target, context }: ObjectWrite): Promise<boolean> {
  const { group, version, plural: resource } = store.representation
  const { name } = target
  const namespace = group === '' && resource === 'namespaces' ? name : target.namespace // a namespace is within itself
  return await context.mayGet?.({ group, version, resource, namespace, name }) ?? true
}

export interface Target { readonly namespace: string, readonly name: string, readonly subresource?: string }

/** RFC 3339 with seconds precision. @param after seconds from now */
export const now = ({ clock }: Pick<ResourceStore, 'clock'>, after = 0): string =>
  timestamp(clock.wall() + after * 1000)

/** @throws StatusError 422 with a cause per finding, if there are any */
export function refuse (store: ResourceStore, object: ApiObject, errors: readonly FieldError[]): void {
  const { group, kind } = store.representation
  if (errors.length > 0) throw invalid({ group, kind }, object.metadata.name ?? '', errors)
}

/** The context of writes that the server makes itself. */
export const serverContext = (signal: AbortSignal): WriteContext => ({ caller: { signal } })
