/** Servers that collect garbage, and objects with owners. */
import { build, type Client, type Json, type Test } from '../../build.js'
import type { ServerOptions } from '../../../app.js'
import { polled as until } from '../../polled.js'

export const CONFIGS = '/api/v1/namespaces/default/configmaps'

/** A reference to an object. */
export const owner = ({ apiVersion = 'v1', kind = 'ConfigMap', metadata }: Json, more: Json = {}): Json =>
  ({ apiVersion, kind, name: metadata.name, uid: metadata.uid, ...more })

export { until }

export interface Collecting extends Client {
  /** A config map with these owners. */
  readonly make: (name: string, owners?: readonly Json[], more?: Json) => Promise<Json>
  readonly config: (name: string) => Promise<Json | undefined>
  /** Resolves when the config map is gone. */
  readonly gone: (name: string) => Promise<void>
  readonly remove: (name: string, propagationPolicy: string) => Promise<Json>
}

export function collecting (server: Client, root = CONFIGS): Collecting {
  const config = async (name: string): Promise<Json | undefined> => {
    const { code, json } = await server.get(`${root}/${name}`)
    return code === 404 ? undefined : json
  }
  return {
    ...server,
    config,
    make: async (name, owners = [], { metadata = {}, ...more } = {}) => {
      const { code, json, body } = await server.post(root, {
        metadata: { name, ownerReferences: owners, ...metadata }, ...more
      })
      if (code !== 201) throw new Error(body)
      return json
    },
    gone: name => until(async () => await config(name) === undefined),
    remove: async (name, propagationPolicy) => (await server.delete(`${root}/${name}`, { propagationPolicy })).json
  }
}

export const collectingServer = async (t: Test, options: ServerOptions = {}): Promise<Collecting> =>
  collecting(await build(t, { collectGarbage: true, ...options }))
