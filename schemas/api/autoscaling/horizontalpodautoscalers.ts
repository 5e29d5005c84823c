/** HorizontalPodAutoscaler: adapts a number of pods to their load. Four versions, of which v1 is stored, and v2 is what the others are converted by. */
import { resource, type ApiObject, type OtherRepresentation, type VersionRules } from '../../resource.js'
import { validateAutoscaler } from './rules/horizontalpodautoscalers.js'
import { autoscalerColumns } from './columns.js'
import { specFromV2, specToV2, statusFromV2, statusToV2 } from './metric-conversion.js'
import { forgetSent, fromV1, toV1 } from './v1-conversion.js'
import * as v1 from './v1.js'
import * as v2 from './v2.js'
import * as v2beta1 from './v2beta1.js'
import * as v2beta2 from './v2beta2.js'

/** What v2beta1 has no field for. */
const BEHAVIOR = 'autoscaling.alpha.orch.io/behavior'

/** The annotations that v1 keeps things in mean the same here. */
function toV2beta1 (stored: v1.HorizontalPodAutoscaler): v2beta1.HorizontalPodAutoscaler {
  const { spec: { behavior: _, ...spec }, status, metadata, ...types } = fromV1(stored)
  const behavior = stored.metadata.annotations?.[BEHAVIOR]
  return {
    ...types,
    apiVersion: v2beta1.API_VERSION,
    metadata: behavior === undefined ? metadata : { ...metadata, annotations: { ...metadata.annotations, [BEHAVIOR]: behavior } },
    spec: { ...spec, metrics: spec.metrics?.map(specFromV2) },
    status: { ...status, currentReplicas: status.currentReplicas ?? 0, currentMetrics: status.currentMetrics?.map(statusFromV2) }
  }
}

function fromV2beta1 ({ spec, status, metadata, ...types }: v2beta1.HorizontalPodAutoscaler): v1.HorizontalPodAutoscaler {
  const made = toV1({
    ...types,
    metadata,
    spec: { ...spec, metrics: spec.metrics?.map(specToV2) },
    status: { ...status, currentMetrics: status.currentMetrics?.map(statusToV2) }
  })
  const behavior = metadata.annotations?.[BEHAVIOR]
  if (behavior !== undefined) made.metadata.annotations = { ...made.metadata.annotations, [BEHAVIOR]: behavior }
  return made
}

/** Brings what a client of v1 sent into the form that the others are stored in, and takes the part of the status that annotations keep. */
function prepareNew (autoscaler: v1.HorizontalPodAutoscaler): void {
  const sent = fromV1(autoscaler)
  const { conditions: _conditions, currentMetrics: _metrics, ...status } = sent.status
  Object.assign(autoscaler, toV1({ ...sent, status }))
}

/** As `prepareNew`; what annotations keep of the spec or of the status is changed with that alone. */
function prepareChange (autoscaler: v1.HorizontalPodAutoscaler, old: v1.HorizontalPodAutoscaler, subresource: string): void {
  const { spec, status } = fromV1(old)
  Object.assign(autoscaler, toV1({ ...fromV1(autoscaler), ...(subresource === 'status' ? { spec } : { status }) }))
}

const byContainer = ({ spec: { metrics = [] } }: v2.HorizontalPodAutoscaler): Array<NonNullable<v2.HorizontalPodAutoscaler['spec']['metrics']>[number]> => metrics.filter(metric => metric.containerResource !== undefined)

/** Targets for single containers; the rules tell of what is left without one. */
function dropGated (autoscaler: v1.HorizontalPodAutoscaler, old: v1.HorizontalPodAutoscaler | undefined): void {
  const sent = fromV1(autoscaler)
  const gated = byContainer(sent)
  if (gated.length === 0 || (old !== undefined && byContainer(fromV1(old)).length > 0)) return
  for (const metric of gated) delete metric.containerResource
  Object.assign(autoscaler, toV1(sent))
}

const shown = new WeakMap<v1.HorizontalPodAutoscaler, v2.HorizontalPodAutoscaler>()

/** What tables show is told by v2; converted once for all cells of a row. */
function asV2 (autoscaler: v1.HorizontalPodAutoscaler): v2.HorizontalPodAutoscaler {
  let made = shown.get(autoscaler)
  if (made === undefined) shown.set(autoscaler, made = fromV1(autoscaler))
  return made
}

/** The same in every version: they are told of what v1 keeps in annotations. */
const rules: VersionRules<v1.HorizontalPodAutoscaler> = {
  create: (autoscaler, report) => { validateAutoscaler(autoscaler, report) },
  update: (autoscaler, _old, report) => { validateAutoscaler(autoscaler, report) }
}

// Generic code hands each of these only objects of its own version.
const others: ReadonlyArray<OtherRepresentation<v1.HorizontalPodAutoscaler>> = [
  { message: v2.HorizontalPodAutoscaler, toStored: object => toV1(object as v2.HorizontalPodAutoscaler), fromStored: fromV1, rules },
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
    rules,
    deprecation: { deprecated: '1.22', removed: '1.25', replacement: 'autoscaling/v2 HorizontalPodAutoscaler' }
  }
]

export const horizontalPodAutoscalers = resource(v1.HorizontalPodAutoscaler, {
  plural: 'horizontalpodautoscalers',
  shortNames: ['hpa'],
  categories: ['all'],
  notOnUpdate: ['generateName'],
  namespaced: true,
  subresources: [{ name: 'status', verbs: ['get', 'patch', 'update'], changes: ['status'] }],
  columns: autoscalerColumns.map(column => ({ ...column, cell: (object: v1.HorizontalPodAutoscaler, now: number) => column.cell(asV2(object), now) })),
  strategy: { dropGated, prepareForCreate: prepareNew, prepareForUpdate: prepareChange, canonicalize: forgetSent },
  rules: { ...rules, prepare: forgetSent }, // who speaks v1 has no word for it, and is judged by what it says
  others
})
