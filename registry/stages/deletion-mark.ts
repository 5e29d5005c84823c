/** How an object is marked as deleted: deletionTimestamp, grace period, and the finalizer for its dependents. */
import type { Int64 } from '../../schemas/language/declare.js'
import { nextGeneration } from '../../schemas/meta/object.js'
import { timestamp } from '../../schemas/meta/time.js'
import type { ApiObject } from '../../schemas/meta/api-object.js'
import type { Strategy } from '../../schemas/strategy.js'
import { FOREGROUND_FINALIZER, ORPHAN_FINALIZER } from '../../schemas/meta/metadata-rules.js'
import { invalid } from '../../schemas/status.js'
import type { ResourceStore } from '../resource-store.js'
import { now } from '../write-context.js'

export type Propagation = 'Orphan' | 'Background' | 'Foreground'

export interface DeletionOptions {
  readonly propagationPolicy?: Propagation | undefined
  /** Requested grace period in seconds, for strategies that have one. Default: the object's own. */
  readonly gracePeriodSeconds?: number | undefined
}

const BY_PROPAGATION: Readonly<Record<Propagation, string | undefined>> = {
  Orphan: ORPHAN_FINALIZER, Foreground: FOREGROUND_FINALIZER, Background: undefined
}
const PROPAGATION_FINALIZERS = new Set([ORPHAN_FINALIZER, FOREGROUND_FINALIZER])

/** The object as it looks once its deletion has begun. In place. */
export function markedObject (
  store: ResourceStore, object: ApiObject, { propagationPolicy, gracePeriodSeconds }: DeletionOptions
): ApiObject {
  const { metadata } = object
  const terminating = metadata.deletionTimestamp !== undefined
  if (terminating && (metadata.deletionGracePeriodSeconds ?? 0) > 0 &&
    !shortenGracePeriod(metadata, gracePeriodSeconds)) return object
  // A namespace that is being emptied keeps its first propagation policy.
  if (terminating && store.strategy.blocksRemoval?.(object) === true) return object
  if (store.dependents !== 'left') setDependentFinalizers(metadata, store.dependents, propagationPolicy)
  if (!terminating) {
    const grace = store.strategy.gracePeriod?.(object, gracePeriodSeconds) ?? 0
    metadata.deletionTimestamp = now(store, grace)
    metadata.deletionGracePeriodSeconds = grace
    // Controllers must react to the new deletionTimestamp. Types with a `beginDelete` of their own count no generation
    // for it.
    if (store.strategy.beginDelete === undefined && (metadata.generation ?? 0) > 0) {
      metadata.generation = nextGeneration(object)
    }
    store.strategy.beginDelete?.(object)
  }
  return object
}

/** Sets the finalizer for dependents: the policy of the request, else of the object, else of its type. */
function setDependentFinalizers (
  metadata: ApiObject['metadata'], ofType: Strategy['dependents'], policy: Propagation | undefined
): void {
  const { finalizers = [] } = metadata
  const byItself = finalizers.find(finalizer =>
    PROPAGATION_FINALIZERS.has(finalizer)) ?? (ofType === 'orphaned' ? ORPHAN_FINALIZER : undefined)
  const wanted = ofType === 'none' ? undefined : policy === undefined ? byItself : BY_PROPAGATION[policy]
  const kept = finalizers.filter(finalizer => !PROPAGATION_FINALIZERS.has(finalizer) || finalizer === wanted)
  if (wanted !== undefined && !kept.includes(wanted)) kept.push(wanted)
  if (kept.length > 0) metadata.finalizers = kept
  else delete metadata.finalizers
}

/** Shortens a running grace period. @returns false if it would not become shorter; the deletion then changes nothing */
function shortenGracePeriod (metadata: ApiObject['metadata'], seconds: number | undefined): boolean {
  const { deletionTimestamp = '', deletionGracePeriodSeconds: before = 0 } = metadata
  if (seconds === undefined || seconds >= before) return false
  metadata.deletionTimestamp = timestamp(Date.parse(deletionTimestamp) + (seconds - Number(before)) * 1000)
  metadata.deletionGracePeriodSeconds = seconds
  return true
}

/**
 * The propagation policy of a request, given in either of two options.
 * @throws StatusError 422 for an unknown policy, or if both options are set
 */
export function propagationOf (
  policy: string | undefined, orphanDependents: boolean | undefined
): Propagation | undefined {
  const kind = { group: 'meta.orch.io', kind: 'DeleteOptions' }
  if (policy !== undefined && orphanDependents !== undefined) {
    throw invalid(kind, '', [{
      type: 'FieldValueInvalid', field: 'propagationPolicy', value: policy,
      detail: 'orphanDependents and deletionPropagation cannot be both set'
    }])
  }
  if (orphanDependents !== undefined) return orphanDependents ? 'Orphan' : 'Background'
  if (policy === undefined) return undefined
  if (!Object.hasOwn(BY_PROPAGATION, policy)) {
    throw invalid(kind, '', [{
      type: 'FieldValueNotSupported', field: 'propagationPolicy', value: policy,
      detail: 'supported values: "Foreground", "Background", "Orphan"'
    }])
  }
  return policy as Propagation // one of the three, as just checked
}

/** The largest offset of a date, in seconds. */
const MAX_SECONDS = 2 ** 31 - 1

/** A negative period means one second. */
export function gracePeriodOf (seconds: Int64 | undefined): number | undefined {
  if (seconds === undefined) return undefined
  return seconds < 0 ? 1 : Math.min(Number(seconds), MAX_SECONDS)
}
