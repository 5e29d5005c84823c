/** A server with admission plugins, and requests of users that tokens name. */
import type { AdmissionOptions } from '../../admission/options.js'
import type { ServerOptions } from '../../app.js'
import { build, type Json, type Answer, type Test } from '../build.js'

/** Sends requests as a user: `root` of system:masters, `ann` without groups, or a user of the given tokens. */
export interface Served {
  readonly as: (user: string, method: string, url: string, body?: unknown, type?: string) => Promise<Answer>
  /** As root. */
  readonly post: (url: string, body: unknown) => Promise<Answer>
  readonly get: (url: string) => Promise<Answer>
  /** As root; must succeed. */
  readonly made: (url: string, body: unknown) => Promise<Json>
  readonly close: () => Promise<void>
}

export const MERGE = 'application/merge-patch+json'
export const PODS = '/api/v1/namespaces/default/pods'

export async function serve (
  t: Test, admission: AdmissionOptions,
  { tokens = [], ...options }: Omit<ServerOptions, 'authentication'> & { tokens?: readonly string[] } = {}
): Promise<Served> {
  const lines = ['root,root,1,"system:masters"', 'ann,ann,2', ...tokens]
  const server = await build(t, { ...options, admission, authentication: { tokens: `${lines.join('\n')}\n` } })
  const as: Served['as'] = (user, method, url, body, type) => server.call(method, url, body, {
    authorization: `Bearer ${user}`, ...(type === undefined ? {} : { 'content-type': type })
  })
  const post: Served['post'] = (url, body) => as('root', 'POST', url, body)
  return {
    as,
    post,
    close: async () => { await server.app.close() },
    get: url => as('root', 'GET', url),
    made: async (url, body) => {
      const { code, json } = await post(url, body)
      if (code !== 201) throw new Error(`${url}: ${code} ${JSON.stringify(json)}`)
      return json
    }
  }
}

export const container = (more: Json = {}): Json => ({ name: 'c', image: 'i', ...more })
export const pod = (name: string, spec: Json = {}, metadata: Json = {}): Json => ({
  metadata: { name, ...metadata }, spec: { containers: [container()], ...spec }
})
