/** The patterns of the router, which serve all types: their number does not grow with these. */
import t, { type Test } from 'tap'
import type { RouteOptions } from 'fastify'
import Fastify from '../fastify.js'
import orch, { type ServerOptions } from '../../app.js'

/** Those of discovery end with the version. */
const OBJECTS = /^\/apis?\/(?:\*|.*(?:resource|:name|namespaces|proxy))/

/** Patterns of resources and objects, and whether each is left out of a host's documents. */
async function patterns (t: Test, options: ServerOptions): Promise<Map<string, boolean>> {
  const app = Fastify()
  t.teardown(() => app.close())
  const routes = new Map<string, RouteOptions>()
  app.addHook('onRoute', route => { if (OBJECTS.test(route.url)) routes.set(route.url, route) })
  await app.register(orch, options)
  await app.ready()
  const printed = app.printRoutes({ commonPrefix: false })
  return new Map([...routes].map(([url, { schema }]) => {
    t.ok(printed.includes(url.slice(url.lastIndexOf('/') + 1)), `${url} is printed`)
    return [url, (schema as { readonly hide?: boolean } | undefined)?.hide === true]
  }))
}

t.test('29 patterns and what they cannot take serve all types', async t => {
  const all = await patterns(t, { api: { disabled: [] } })
  t.equal(all.size, 29 + 2)
  t.ok(all.has('/api/*') && all.has('/apis/*'), 'these take the rest')
  t.same([...all].filter(([, hidden]) => !hidden), [], "none is in a host's documents unless it asks")
  const few = await patterns(t, { api: { disabled: ['apps/v1', 'batch/v1', 'policy/v1'] } })
  t.same([...few.keys()], [...all.keys()], 'fewer types have the same')
})
