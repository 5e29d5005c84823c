/** The scale subresource of custom resources, whose definition names the paths of replicas and selector. */
import type { CustomResourceSubresourceScale } from '../api/apiextensions/customresourcedefinitions.js'
import { typeOf } from '../api/apiextensions/plain-values.js'
import { Scale } from '../api/autoscaling/scale.js'
import { replicaColumns } from '../api/autoscaling/columns.js'
import { putAt, valueAt } from '../language/values.js'
import type { Report } from '../language/types.js'
import type { ApiObject } from '../meta/api-object.js'
import { name, type Column } from '../columns.js'
import type { Subresource } from '../subresource.js'
import { invalid } from '../rules/findings.js'
import { badRequest, StatusError } from '../status.js'
import { customColumns } from './columns.js'

const MAX_REPLICAS = 2 ** 31 - 1

const REPLICAS = replicaColumns as ReadonlyArray<Column<ApiObject>> // for objects that `read` returns
const COLUMNS = [name, ...REPLICAS, ...customColumns().slice(1)]

/** Paths are simple: names, separated by dots. */
const pathOf = (path: string): string => path.replace(/^\./, '')

export function customScale (
  { specReplicasPath, statusReplicasPath, labelSelectorPath = '' }: CustomResourceSubresourceScale
): Subresource {
  const numberAt = (object: ApiObject, path: string): number | undefined => {
    const value = valueAt(object, pathOf(path))
    return typeof value === 'number' ? value : undefined
  }
  return {
    name: 'scale',
    verbs: ['get', 'patch', 'update'],
    kind: 'Scale',
    group: 'autoscaling',
    version: 'v1',
    view: {
      message: Scale,
      columns: COLUMNS,
      read: object => {
        const { metadata: { name, namespace, uid, resourceVersion, creationTimestamp } } = object
        const replicas = numberAt(object, specReplicasPath)
        const selector = labelSelectorPath === '' ? undefined : valueAt(object, pathOf(labelSelectorPath))
        const metadata = Object
          .fromEntries(
            Object.entries({ name, namespace, uid, resourceVersion, creationTimestamp }).filter(([, value]) =>
              value !== undefined)
          )
        return {
          kind: 'Scale',
          apiVersion: 'autoscaling/v1',
          metadata,
          spec: replicas === undefined ? {} : { replicas },
          status: {
            replicas: numberAt(object, statusReplicasPath) ?? 0,
            ...(typeof selector === 'string' && selector !== '' ? { selector } : {})
          }
        } as ApiObject
      },
      check: object => {
        // not a fault of the server
        if (numberAt(object, specReplicasPath) === undefined) {
          throw new StatusError(
            'InternalError',
            `Internal error occurred: the spec replicas field ${JSON.stringify(specReplicasPath)} does not exist`
          )
        }
      },
      checkPatched: (view, before) => {
        if ([before, view].some(object => valueAt(object, 'spec.replicas') !== undefined)) return
        throw badRequest(`the spec replicas field ${JSON.stringify(specReplicasPath)} cannot be empty`)
      },
      write: (object, wanted) => {
        putAt(
          object as unknown as Record<string, unknown>, pathOf(specReplicasPath), (wanted as Scale).spec.replicas ?? 0
        )
      }
    }
  }
}

/** Validates replicas and selector of an object, if it has them. */
export function validateScale (
  { specReplicasPath, statusReplicasPath, labelSelectorPath = '' }: CustomResourceSubresourceScale, object: ApiObject,
  report: Report
): void {
  for (const path of [specReplicasPath, statusReplicasPath]) {
    const value = valueAt(object, pathOf(path))
    if (value === undefined) continue
    if (typeOf(value) !== 'integer') invalid(report, path, 0, `must be an integer, not of type ${typeOf(value)}`)
    else if (Number(value) < 0) invalid(report, path, value, 'should be a non-negative integer')
    else if (Number(value) > MAX_REPLICAS) {
      invalid(report, path, value, `should be less than or equal to ${MAX_REPLICAS}`)
    }
  }
  const selector = labelSelectorPath === '' ? undefined : valueAt(object, pathOf(labelSelectorPath))
  if (selector !== undefined && typeof selector !== 'string') {
    invalid(report, labelSelectorPath, '', `must be a string, not of type ${typeOf(selector)}`)
  }
}
