/** Definitions for tests, and waiting until their types are served. */
import type { Client, Json } from '../../build.js'
import { polled as until } from '../../polled.js'

export const DEFINITIONS = '/apis/apiextensions.orch.io/v1/customresourcedefinitions'
export const APPLY = 'application/apply-patch+yaml'

export const WIDGET: Json = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      required: ['size'],
      properties: {
        size: { type: 'integer', minimum: 1 },
        colour: { type: 'string', default: 'red', enum: ['red', 'green'] },
        replicas: { type: 'integer' },
        note: { type: 'string', nullable: true },
        port: { 'x-orch-int-or-string': true },
        parts: {
          type: 'array',
          'x-orch-list-type': 'map',
          'x-orch-list-map-keys': ['name'],
          items: {
            type: 'object',
            required: ['name'],
            properties: { name: { type: 'string' }, weight: { type: 'integer', default: 1 } }
          }
        },
        tags: { type: 'array', 'x-orch-list-type': 'set', items: { type: 'string' } },
        free: { type: 'object', 'x-orch-preserve-unknown-fields': true },
        template: { type: 'object', 'x-orch-embedded-resource': true, 'x-orch-preserve-unknown-fields': true }
      }
    },
    status: {
      type: 'object',
      properties: {
        replicas: { type: 'integer' },
        selector: { type: 'string' },
        conditions: {
          type: 'array', items: { type: 'object', properties: { type: { type: 'string' }, status: { type: 'string' } } }
        }
      }
    }
  }
}

export const version = (name: string, more: Json = {}): Json => ({
  name, served: true, storage: true, schema: { openAPIV3Schema: WIDGET }, ...more
})

/** A definition of `widgets.example.com` in one version. */
export function definition (spec: Json = {}, names: Json = {}): Json {
  const { group = 'example.com' } = spec
  const all = { plural: 'widgets', kind: 'Widget', ...names }
  return {
    apiVersion: 'apiextensions.orch.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${all.plural}.${group as string}` },
    spec: { group, scope: 'Namespaced', names: all, versions: [version('v1')], ...spec }
  }
}

export const condition = ({ status }: Json, type: string): Json | undefined =>
  status.conditions?.find((one: Json) => one['type'] === type)

export { until }

/** Creates a definition. Resolves to its established state. */
export async function install (server: Client, made: Json): Promise<Json> {
  const { code, body } = await server.post(DEFINITIONS, made)
  if (code !== 201) throw new Error(body)
  return await established(server, made['metadata'].name as string)
}

export async function established (server: Client, name: string): Promise<Json> {
  let found: Json = {}
  await until(async () => {
    found = (await server.get(`${DEFINITIONS}/${name}`)).json
    return condition(found, 'Established')?.['status'] === 'True'
  })
  return found
}
