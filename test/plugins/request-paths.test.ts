/**
 * How paths are read, by the routes and without them. Each line of `test/data/paths.txt` is a URL and what a GET of it
 * is about: verb, group, version, resource, namespace, name, subresource; `path` if no resource. Then the same for HEAD
 * and for other methods, where they differ.
 */
import t from 'tap'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import Fastify from '../fastify.js'
import type { FastifyRequest } from 'fastify'
import type { RequestInfo } from '../../auth/request-info.js'
import { served } from '../../answers/request-context.js'
import requestInfo from '../../plugins/request-info/index.js'
import { infoOfPath } from '../../plugins/request-info/paths.js'
import { apiRoutes } from '../../routes/table.js'
import { isStatusError } from '../../schemas/status.js'
import { systemClock } from '../../event-loop/clock.js'

/** Longer than a parameter may be. */
const LONG = 'l'.repeat(120)
const TABLE = readFileSync(resolve(import.meta.dirname, '../../../test/data/paths.txt'), 'utf8')
  .trimEnd()
  .split('\n')
  .map(line => line.replaceAll('LONG', LONG).split(' | '))

/** A request that `*` stands for: the verb follows from the method. */
const VERBS: Readonly<Record<string, string>> = {
  POST: 'create', PUT: 'update', PATCH: 'patch', OPTIONS: 'options', TRACE: 'trace'
}
const METHODS = ['GET', 'HEAD', 'DELETE', ...Object.keys(VERBS)]

function expected (method: string, [, get = '', head = '=', others = get]: readonly string[]): string {
  if (method === 'GET') return get
  if (method === 'HEAD') return head === '=' ? get : head
  if (others === 'path' || others === '400') return others
  const [, ...words] = others.split(' ')
  const isCollection = words[4] === '-'
  return [VERBS[method] ?? (isCollection ? 'deletecollection' : 'delete'), ...words].join(' ')
}

const shown = (text: string): string => text === '' ? '-' : encodeURI(text)

function summary (
  {
    isResourceRequest, verb, group, version, resource, namespace, name, subresource, rest, deeper, selected
  }: RequestInfo
): string {
  if (!isResourceRequest) return 'path'
  const words = [verb, ...[group, version, resource, namespace, name, subresource].map(shown)]
  if (rest !== undefined) words.push('below', shown(rest))
  if (deeper) words.push('deeper')
  if (selected) words.push('selected')
  return words.join(' ')
}

interface Read { readonly info: RequestInfo | undefined, readonly failure: number | undefined }

/** What a server's routes read, over a router of those options. */
async function reader (routerOptions: object = {}) {
  // clients of HTTP would normalize it
  const app = Fastify({ routerOptions, rewriteUrl: ({ headers }) => String(headers['x-url']) })
  t.teardown(() => app.close())
  app.decorate('orchClock', systemClock)
  await app.register(requestInfo)
  let read: Read = { info: undefined, failure: undefined }
  app.setErrorHandler(async (error, { orch }, reply) => {
    read = { info: orch?.info, failure: isStatusError(error) ? error.status.code : 500 }
    return await reply.send('')
  })
  const note = async ({ orch }: FastifyRequest): Promise<void> => { read = { info: orch?.info, failure: undefined } }
  app.addHook('preHandler', note)
  apiRoutes(app, (_request, reply) => reply.send(''))
  for (const url of [
    '/', '/version', '/metrics', '/api', '/apis', '/api/:version', '/apis/:group', '/apis/:group/:version',
    '/openapi/v3/*', '/healthz', '/healthz/*'
  ]) {
    app.route({ method: 'GET', url, exposeHeadRoute: false, handler: async (_request, reply) => await reply.send('') })
  }
  app.setNotFoundHandler({ preHandler: note }, (_request, reply) => reply.send(''))
  await app.ready()
  return async (method: string, url: string): Promise<Read> => {
    await app.inject({ method: method as 'GET', url: '/', headers: { 'x-url': url } })
    return read
  }
}

t.test('routes and paths without routes are read alike, and as ever', async t => {
  const read = await reader()
  t.ok(TABLE.length * METHODS.length > 5000)
  for (const line of TABLE) {
    const [url = ''] = line
    const [path = '', ...query] = url.split('?')
    const routed: string[] = []
    const parsed: string[] = []
    for (const method of METHODS) {
      const { info, failure } = await read(method, url)
      const isPath = info?.path === decodeURIComponent(path)
      routed.push(
        failure !== undefined || info === undefined
          ? String(failure)
          : isPath ? summary(info) : `another path, ${info.path}`
      )
      try {
        parsed.push(summary(infoOfPath({ method, path, query: query.join('?') })))
      } catch (error) {
        parsed.push(isStatusError(error) ? String(error.status.code) : 'none')
      }
    }
    const wanted = METHODS.map(method => expected(method, line))
    t.same(routed, wanted, url)
    t.same(parsed, wanted, `${url}, without a route`)
  }
})

t.test('a lenient router of a host changes what is served and what is authorized alike', async t => {
  const read = await reader({
    caseSensitive: false, ignoreTrailingSlash: true, ignoreDuplicateSlashes: true, useSemicolonDelimiter: true
  })
  for (const [url, path, about] of [
    ['/METRICS', '/metrics', 'path'], ['/metrics/', '/metrics', 'path'], ['//metrics', '/metrics', 'path'],
    ['/Healthz/etcd', '/healthz/etcd', 'path'],
    ['/metrics;/version', '/metrics', 'path'], ['/healthz/a%2Fb', undefined, '400'], ['/APIS/g/V', '/apis/g/V', 'path'],
    ['/API/v1/PODS', '/api/v1/PODS', 'list - v1 PODS - - -'],
    ['/api/v1/NAMESPACES/n/pods/p/', '/api/v1/namespaces/n/pods/p', 'get - v1 pods n p -'],
    ['//api//v1//namespaces//n/status', '/api/v1/namespaces/n/status', 'get - v1 namespaces n n status'],
    ['/api/v1/Watch/pods', '/api/v1/watch/pods', 'watch - v1 pods - - -'],
    ['/api/v1/namespaces/n;x/pods', '/api/v1/namespaces/n', 'get - v1 namespaces n n -'],
    ['/api/v1/nodes/x/proxy/', '/api/v1/nodes/x/proxy/', 'get - v1 nodes - x proxy below /'],
    ['/api/v1/nodes/x/proxy/a/', '/api/v1/nodes/x/proxy/a/', 'get - v1 nodes - x proxy below /a/'],
    ['/api/v1/pods;watch=true', '/api/v1/pods', 'watch - v1 pods - - -']
  ] as const) {
    const { info, failure } = await read('GET', url)
    t.equal(failure === undefined && info !== undefined ? summary(info) : String(failure), about, url)
    if (path !== undefined) t.equal(info?.path, path, url)
  }
})

t.test('a handler that is reached before request info fails and names the request', async t => {
  const app = Fastify()
  t.teardown(() => app.close())
  app.get('/early', async request => served(request).orch.auditId)
  const { statusCode, body } = await app.inject('/early')
  t.equal(statusCode, 500)
  t.match(body, 'GET /early is handled before request info')
})
