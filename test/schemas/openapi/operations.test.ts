/**
 * Operations compared to a client that was generated from upstream's document: names, parameters and accepted types of
 * its methods.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import t from 'tap'
import { featureGates, type Gates } from '../../../schemas/gates.js'
import { representations } from '../../../schemas/resources.js'
import { findResource } from '../find-resource.js'
import { swaggerJson, whole } from '../../../schemas/openapi/v2.js'

interface Parameter { name: string, in: string, description?: string }
interface Operation {
  operationId: string
  tags: [string]
  parameters?: Parameter[]
  deprecated?: boolean
  consumes: string[]
  produces: string[]
}
type Method = 'get' | 'put' | 'post' | 'delete' | 'options' | 'head' | 'patch'
interface Document { paths: Record<string, Partial<Record<Method, Operation>> & { parameters?: Parameter[] }> }
interface Call {
  readonly path: string
  readonly method: string
  readonly body: boolean
  readonly query: readonly string[]
}

const { paths } = JSON.parse(whole(swaggerJson(representations, { version: 'v1' })).toString()) as Document
const METHODS: readonly Method[] = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch']
const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

const ours = new Map<string, Call & Pick<Operation, 'tags' | 'deprecated' | 'consumes' | 'produces'>>()
for (const [path, item] of Object.entries(paths)) {
  for (const method of METHODS) {
    const operation = item[method]
    if (operation === undefined) continue
    const { operationId, parameters = [], ...rest } = operation
    const all = [...parameters, ...item.parameters ?? []]
    t.notOk(ours.has(operationId), `${operationId} is one operation`)
    ours.set(operationId, {
      ...rest, path, method, body: all.some(parameter => parameter.in === 'body'),
      query: all.filter(parameter => parameter.in === 'query').map(({ name }) => name).sort()
    })
  }
}

const APIS = join(dirname(createRequire(import.meta.url).resolve('@kubernetes/client-node')), 'gen/apis')

/** The calls of a class of the client, by operation: `readNamespacedPod` of CoreV1Api is readCoreV1NamespacedPod. */
function * callsOf (name: string): Generator<[string, Call]> {
  const [requests = ''] = readFileSync(join(APIS, `${name}Api.js`), 'utf8').split('ApiResponseProcessor ')
  for (const source of requests.split(/\n {4}async /).slice(1)) {
    const [, verb = '', collection = '', rest = ''] =
      /^(connect|create|delete|list|patch|read|replace|get)(Collection)?(\w+)/.exec(source) ?? []
    const [, path = ''] = /localVarPath = '([^']+)'/.exec(source) ?? []
    yield [`${verb}${name}${collection}${rest}`, {
      path: path.replace('k8s.io', 'orch.io'),
      method: (/HttpMethod\.(\w+)/.exec(source)?.[1] ?? '').toLowerCase(),
      body: /serialize\(body,/.test(source),
      query: [...source.matchAll(/setQueryParam\("(\w+)"/g)].map(([, query = '']) => query).sort()
    }]
  }
}

/** Parameters of later releases. */
const LATER = new Set(['sendInitialEvents', 'ignoreStoreReadErrorWithClusterBreakingPotential', 'stream'])

/** Paths of the declared resources that the release has, according to the facts. */
const FACTS = JSON.parse(readFileSync(
  resolve(import.meta.dirname, '../../../../test/facts/resources.json'), 'utf8'
)) as { resources: Array<{ group: string, version: string, resource: string, subresources: Array<{ name: string }> }> }
const ofRelease = new Set(FACTS.resources.filter(({ group, version, resource }) =>
  findResource(group, version, resource) !== undefined).flatMap(({ group, version, resource, subresources }) => {
  const collection = `${group === '' ? 'api' : `apis/${group}`}/${version}/${resource}`
  return [collection, ...subresources.map(({ name }) => `${collection}/${name}`)]
}))
const resourceOf = (path: string): string =>
  path.slice(1).replace('/namespaces/{namespace}/', '/').replace(/\/{\w+}/g, '')

t.test('operations have the names, paths, methods and parameters that generated clients know', async t => {
  const classes = new Set([...ours.values()].map(({ tags: [tag] }) => tag.split('_').map(capital).join('')))
  const known = readdirSync(APIS).filter(file => file.endsWith('Api.js')).map(file => file.slice(0, -'Api.js'.length))
  let compared = 0
  for (const name of known.filter(name => /V\d/.test(name) && classes.has(name))) {
    for (const [id, theirs] of callsOf(name)) {
      const found = ours.get(id)
      if (found === undefined) {
        t.notOk(ofRelease.has(resourceOf(theirs.path)), `${id} is of another release`)
        continue
      }
      const { path, method, body, query } = found
      t.same(
        { path, method, body, query }, { ...theirs, query: theirs.query.filter(parameter => !LATER.has(parameter)) }, id
      )
      compared++
    }
  }
  t.ok(compared > 450, `${compared} operations are compared`)
})

t.test('operations that later clients lack are there too', async t => {
  const expected: Record<string, string> = {
    deleteCoreV1CollectionNamespacedConfigMap: 'delete /api/v1/namespaces/{namespace}/configmaps',
    watchCoreV1NamespacedPod: 'get /api/v1/watch/namespaces/{namespace}/pods/{name}',
    watchCoreV1NamespacedPodList: 'get /api/v1/watch/namespaces/{namespace}/pods',
    watchCoreV1PodListForAllNamespaces: 'get /api/v1/watch/pods',
    watchCoreV1NodeList: 'get /api/v1/watch/nodes',
    connectCoreV1OptionsNodeProxyWithPath: 'options /api/v1/nodes/{name}/proxy/{path}',
    listBatchV1beta1CronJobForAllNamespaces: 'get /apis/batch/v1beta1/cronjobs',
    getFlowcontrolApiserverAPIGroup: 'get /apis/flowcontrol.apiserver.orch.io/',
    getCoreAPIVersions: 'get /api/',
    getAPIVersions: 'get /apis/',
    getCodeVersion: 'get /version/'
  }
  for (const [id, place] of Object.entries(expected)) {
    t.equal(`${ours.get(id)?.method} ${ours.get(id)?.path}`, place, id)
  }
})

t.test('an operation says whether it is deprecated, and what it takes and gives', async t => {
  t.same(ours.get('patchCoreV1NamespacedPod')?.consumes.slice(0, 2), [
    'application/json-patch+json', 'application/merge-patch+json'
  ])
  t.same(ours.get('createCoreV1NamespacedPod')?.consumes, ['*/*'])
  t.same(ours.get('readCoreV1NamespacedPod')?.produces, [
    'application/json', 'application/yaml', 'application/vnd.orch.protobuf'
  ])
  t.same(ours.get('listCoreV1NamespacedPod')?.produces.slice(3), [
    'application/json;stream=watch', 'application/vnd.orch.protobuf;stream=watch'
  ])
  t.equal(ours.get('readCoreV1NamespacedPodLog')?.produces[0], 'text/plain')
  const deprecated = (id: string) => ours.get(id)?.deprecated === true
  t.same(
    [
      'watchCoreV1NamespacedPod', 'readBatchV1beta1NamespacedCronJob', 'readBatchV1NamespacedCronJob',
      'readCoreV1NamespacedPod'
    ].map(deprecated),
    [true, true, false, false]
  )
})

t.test('parameters that came later are those of the emulated release', async t => {
  const parametersOf = (gates: Gates): Set<string> => {
    const { paths } = JSON.parse(whole(swaggerJson(representations, { version: 'v1', gates })).toString()) as Document
    return new Set(Object.values(paths).flatMap(({ parameters: shared = [], ...methods }) =>
      [...shared, ...Object.values(methods).flatMap(operation => operation?.parameters ?? [])].map(({ name }) => name)))
  }
  const [earlier, later] = [parametersOf(featureGates()), parametersOf(featureGates({}, { release: '1.36' }))]
  for (const name of [...LATER, 'shardSelector']) {
    t.strictSame([earlier.has(name), later.has(name)], [false, true], name)
  }
})
