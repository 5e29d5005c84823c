/** Stages: what becomes of objects by themselves, as nodes and controllers of a cluster would have it. */
import type { AnyObject, TypeName } from '../../host/contract.js'
import type { Duration } from '../clock.js'

/** An object as it is stored, frozen. */
export type Simulated = AnyObject & {
  readonly metadata: NonNullable<AnyObject['metadata']> & { readonly name: string, readonly uid: string }
}

/** For what a stage computes. */
export interface StageContext {
  /** The server's time, in whole seconds, as objects have it. */
  readonly now: string
  /** From 0 to 1, by the seed of the server. */
  readonly random: () => number
}

/** What a stage writes, or what computes it. */
export type Written = object | ((object: Simulated, context: StageContext) => object)

export interface Expression {
  /** A path: `.status.phase`, `.metadata.ownerReferences[].kind` of any, `.metadata.labels["shop.example/colour"]`. */
  readonly key: string
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist'
  /** Of In and NotIn. */
  readonly values?: readonly string[]
}

export interface StageSelector {
  readonly matchLabels?: Readonly<Record<string, string>>
  readonly matchAnnotations?: Readonly<Record<string, string>>
  readonly matchExpressions?: readonly Expression[]
}

export interface StageNext {
  /** A patch of the status. */
  readonly status?: Written
  /** A patch of the object itself, before that of the status. */
  readonly patch?: Written
  /** Of which kind both patches are. Default merge; strategic, which merges lists by key, is for built-in types. */
  readonly type?: 'merge' | 'strategic'
  /** An event about the object. */
  readonly event?: { readonly type?: 'Normal' | 'Warning', readonly reason: string, readonly message: string }
  /** Another object, unless it exists. */
  readonly create?: Written
  /** Deletes the object, without a grace period. */
  readonly delete?: boolean
}

export interface Stage {
  /** A stage with the name of a default one replaces it. */
  readonly name: string
  /** The type of its objects: `{ apiVersion: 'v1', kind: 'Pod' }`. */
  readonly resource: TypeName
  /** Default all objects. Of several stages that select an object, the first one applies, before the default ones. */
  readonly selector?: StageSelector
  /** For what no selector says. */
  readonly when?: (object: Simulated) => boolean
  /** Since the object came into this stage, by the server's clock. Default none. */
  readonly delay?: Duration
  /** Lengthens the delay by up to that, by the seed of the server. */
  readonly jitter?: Duration
  readonly next: StageNext
}

export interface SimulateOptions {
  /** How many nodes there are from the start (`node-0` and so on), or their names. Default 1. */
  readonly nodes?: number | readonly string[]
  /** Besides the default ones, and before them. */
  readonly stages?: readonly Stage[]
  /** False for no default stages, and no scheduler. Default true. */
  readonly defaults?: boolean
}
