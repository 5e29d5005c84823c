/** HorizontalPodAutoscaler: scales pods by load. Stored as v1; conversion between versions goes through v2. */
import type { Ages } from '../../meta/duration.js'
import type { Gates } from '../../gates.js'
import type { ApiObject } from '../../meta/api-object.js'
import type { VersionRules } from '../../strategy.js'
import { GatedFields } from '../../language/gated.js'
import { resource, type OtherRepresentation } from '../../resource.js'
import { validateAutoscaler } from './rules/horizontalpodautoscalers.js'
import { autoscalerColumns } from './columns.js'
import { specFromV2, specToV2, statusFromV2, statusToV2 } from './metric-conversion.js'
import { BEHAVIOR, KEPT, METRICS, OF_SPEC, OF_STATUS, refuseTooMany, SENT } from './kept-values.js'
import { forgetSent, fromV1, settleSent, toV1 } from './v1-conversion.js'
import * as v1 from './v1.js'
import * as v2 from './v2.js'
import * as v2beta1 from './v2beta1.js'
import * as v2beta2 from './v2beta2.js'
import { oncePer } from '../../once-per.js'

/** Passes on the behavior annotation of v1: v2beta1 has no field for it. */
function toV2beta1 (stored: v1.HorizontalPodAutoscaler): v2beta1.HorizontalPodAutoscaler {
  const { spec: { behavior: _, ...spec }, status, metadata, ...types } = fromV1(stored)
  const behavior = stored.metadata.annotations?.[BEHAVIOR]
  return {
    ...types,
    apiVersion: v2beta1.API_VERSION,
    metadata: behavior === undefined
      ? metadata
      : { ...metadata, annotations: { ...metadata.annotations, [BEHAVIOR]: behavior } },
    spec: { ...spec, metrics: spec.metrics?.map(specFromV2) },
    status: {
      ...status, currentReplicas: status.currentReplicas ?? 0, currentMetrics: status.currentMetrics?.map(statusFromV2)
    }
  }
}

function fromV2beta1 (
  { spec, status, metadata, ...types }: v2beta1.HorizontalPodAutoscaler
): v1.HorizontalPodAutoscaler {
  const autoscaler = toV1({
    ...types,
    metadata,
    spec: { ...spec, metrics: spec.metrics?.map(specToV2) },
    status: { ...status, currentMetrics: status.currentMetrics?.map(statusToV2) }
  })
  const behavior = metadata.annotations?.[BEHAVIOR]
  if (behavior !== undefined) {
    autoscaler.metadata.annotations = { ...autoscaler.metadata.annotations, [BEHAVIOR]: behavior }
  }
  return autoscaler
}

type Autoscaler = v1.HorizontalPodAutoscaler

/** Drops annotations of v1 clients that hold fields but are malformed, in place. */
function normalize (autoscaler: Autoscaler): void { Object.assign(autoscaler, toV1(fromV1(autoscaler))) }

/** Restores annotations that hold fields from the old object, or removes them, without parsing them. */
function keepAnnotations ({ metadata }: Autoscaler, names: readonly string[], old: Autoscaler | undefined): void {
  const before = old?.metadata.annotations ?? {}
  const kept = names.flatMap(name => before[name] === undefined ? [] : [[name, before[name]] as const])
  const entries = [...Object.entries(metadata.annotations ?? {}).filter(([name]) => !names.includes(name)), ...kept]
  if (entries.length > 0) metadata.annotations = Object.fromEntries(entries)
  else delete metadata.annotations
}

function prepareNew (autoscaler: v1.HorizontalPodAutoscaler): void {
  keepAnnotations(autoscaler, OF_STATUS, undefined)
  if (autoscaler.metadata.annotations?.[SENT] !== undefined) normalize(autoscaler) // webhooks may have changed either
}

/** A status update keeps the old spec, any other update the old status, including what annotations hold. */
function prepareChange (
  autoscaler: v1.HorizontalPodAutoscaler, old: v1.HorizontalPodAutoscaler, subresource: string
): void {
  keepAnnotations(autoscaler, subresource === 'status' ? OF_SPEC : OF_STATUS, old)
  if (autoscaler.metadata.annotations?.[SENT] !== undefined) normalize(autoscaler)
}

const byContainer = (
  { spec: { metrics = [] } }: v2.HorizontalPodAutoscaler
): Array<NonNullable<v2.HorizontalPodAutoscaler['spec']['metrics']>[number]> =>
  metrics.filter(metric => metric.containerResource !== undefined)

/** What v2 declares for later releases and gates, on each server. */
const gatedOf = oncePer((gates: Gates) => new GatedFields(v2.HorizontalPodAutoscaler, gates))

/** Drops fields of behavior, which v1 has in an annotation: the rest of what v2 has is declared by v1 too. */
function dropFromBehavior<R> (
  autoscaler: Autoscaler, old: Autoscaler | undefined, drop: (now: ApiObject, old: ApiObject | undefined) => R
): R | undefined {
  const { annotations } = autoscaler.metadata
  if (annotations?.[BEHAVIOR]?.includes('"Tolerance"') !== true) return undefined
  const sent = fromV1(autoscaler)
  const result = drop(sent, old === undefined ? undefined : fromV1(old))
  const behavior = toV1(sent).metadata.annotations?.[BEHAVIOR]
  if (behavior !== undefined) annotations[BEHAVIOR] = behavior
  return result
}

function dropUnknown (autoscaler: Autoscaler, old: Autoscaler | undefined, gates: Gates): string[] {
  return dropFromBehavior(autoscaler, old, (now, before) => gatedOf(gates).dropUnknown(now, before)) ?? []
}

function dropGated (autoscaler: Autoscaler, old: Autoscaler | undefined, gates: Gates): void {
  dropFromBehavior(autoscaler, old, (now, before) => { gatedOf(gates).drop(now, before) })
  dropContainerMetrics(autoscaler, old, gates)
}

/**
 * Drops containerResource while its feature gate is off. Validation reports the metric that is left without a source.
 */
function dropContainerMetrics (
  autoscaler: v1.HorizontalPodAutoscaler, old: v1.HorizontalPodAutoscaler | undefined, gates: Gates
): void {
  if (gates.enabled('HPAContainerMetrics')) return
  const { annotations = {} } = autoscaler.metadata
  if (![METRICS, SENT].some(name => annotations[name]?.includes('"containerResource"'))) return
  const sent = fromV1(autoscaler)
  const gated = byContainer(sent)
  if (gated.length === 0 || (old !== undefined && byContainer(fromV1(old)).length > 0)) return
  for (const metric of gated) delete metric.containerResource
  Object.assign(autoscaler, toV1(sent))
}

/** The same for every version: validation reads the v2 form, which includes what v1 has in annotations. */
const rules: VersionRules<v1.HorizontalPodAutoscaler> = {
  create: (autoscaler, report) => { validateAutoscaler(autoscaler, undefined, report) },
  update: (autoscaler, old, report) => { validateAutoscaler(autoscaler, old, report) }
}

/** v2beta1 has behavior in an annotation. */
function prepareBehavior (autoscaler: v1.HorizontalPodAutoscaler): void {
  if (autoscaler.metadata.annotations?.[BEHAVIOR] === undefined) return
  refuseTooMany(autoscaler.metadata.annotations, [BEHAVIOR])
  normalize(autoscaler)
}

// Generic code hands each of these only objects of its own version.
const others: ReadonlyArray<OtherRepresentation<v1.HorizontalPodAutoscaler>> = [
  {
    message: v2.HorizontalPodAutoscaler, toStored: object =>
      toV1(object as v2.HorizontalPodAutoscaler), fromStored: fromV1, rules
  },
  {
    message: v2beta2.HorizontalPodAutoscaler,
    toStored: object => toV1(object as v2.HorizontalPodAutoscaler),
    fromStored: (object): ApiObject => ({ ...fromV1(object), apiVersion: v2beta2.API_VERSION }),
    rules,
    deprecation: { deprecated: '1.23', removed: '1.26', replacement: 'autoscaling/v2 HorizontalPodAutoscaler' }
  },
  {
    message: v2beta1.HorizontalPodAutoscaler,
    toStored: object => fromV2beta1(object as v2beta1.HorizontalPodAutoscaler),
    fromStored: toV2beta1,
    rules: { ...rules, prepare: prepareBehavior },
    deprecation: { deprecated: '1.22', removed: '1.25', replacement: 'autoscaling/v2 HorizontalPodAutoscaler' }
  }
]

/** With annotations under our names too: cells may show an object that has others. */
const withOwnKeys = (
  { metadata, ...rest }: v1.HorizontalPodAutoscaler, named: (own: string) => string
): v1.HorizontalPodAutoscaler =>
  ({
    ...rest, metadata: {
      ...metadata, annotations: {
        ...metadata.annotations,
        ...Object.fromEntries(Object.entries(metadata.annotations ?? {}).map(([key, value]) => [named(key), value]))
      }
    }
  })

/** An object is always shown under the same names: its own. */
const shown = new WeakMap<v1.HorizontalPodAutoscaler, v2.HorizontalPodAutoscaler>()

/** The v2 form, converted once for all cells of a row. */
function asV2 (autoscaler: v1.HorizontalPodAutoscaler, named: (own: string) => string): v2.HorizontalPodAutoscaler {
  let converted = shown.get(autoscaler)
  if (converted === undefined) shown.set(autoscaler, converted = fromV1(withOwnKeys(autoscaler, named)))
  return converted
}

export const horizontalPodAutoscalers = resource(v1.HorizontalPodAutoscaler, {
  plural: 'horizontalpodautoscalers',
  shortNames: ['hpa'],
  categories: ['all'],
  notOnUpdate: ['generateName'],
  namespaced: true,
  fieldAnnotations: KEPT,
  subresources: [{ name: 'status', verbs: ['get', 'patch', 'update'], changes: ['status'] }],
  columns: autoscalerColumns.map(column => ({
    ...column,
    cell: (object: Autoscaler, ages: Ages, named: (own: string) => string) =>
      column.cell(asV2(object, named), ages, named)
  })),
  strategy: {
    dropUnknown, dropGated, prepareForCreate: prepareNew, prepareForUpdate: prepareChange, canonicalize: settleSent
  },
  rules: {
    ...rules,
    prepare: autoscaler => {
      forgetSent(autoscaler) // a client of v1 must not set this internal annotation
      refuseTooMany(autoscaler.metadata.annotations)
      normalize(autoscaler)
    }
  },
  others
})
