import t from 'tap'
import { resourceRequest, type RequestInfo } from '../../auth/request-info.js'
import { AdmissionChain } from '../../admission/chain.js'
import { ResourceRegistry } from '../../registry/resource-registry.js'
import { VerbTable } from '../../registry/verb-table.js'
import { configMaps } from '../../schemas/api/core/configmaps.js'
import { namespaces } from '../../schemas/api/core/namespaces.js'
import { isStatusError } from '../../schemas/status.js'
import { openMemory } from '../../storage/embedded/memory.js'

function registry (): ResourceRegistry {
  const backend = openMemory()
  t.teardown(() => backend.close())
  return new ResourceRegistry({
    backendOf: () => backend, prefix: '/registry', mediaType: 'application/json', windowSizeOf: () => 0, log: () => {}
  })
}

const HANDLERS = new Map([
  [
    '',
    Object.fromEntries([
      'get', 'list', 'watch', 'create', 'update', 'delete', 'deletecollection'
    ].map(verb => [verb, verb]))
  ],
  ['status', { get: 'get status', update: 'update status' }]
])

/** What is returned, or the code of the Status that is thrown. */
function outcome (work: () => unknown): unknown {
  try {
    return work()
  } catch (error) {
    return isStatusError(error) ? error.status.code : error
  }
}

t.test('a table answers with the handler of a subresource and verb, or 404 and 405', async t => {
  const resources = registry()
  resources.admitWith(new AdmissionChain([]))
  const [configs, spaces] = [configMaps, namespaces].map(type => new VerbTable(resources.add(type), HANDLERS))
  const about = (verb: string, more: Partial<RequestInfo> = {}): RequestInfo =>
    resourceRequest({ verb, group: '', version: 'v1', resource: 'x', ...more })
  const object = { namespace: 'n', name: 'c' }
  for (const [table, info, expected] of [
    [configs, about('get', object), 'get'], [configs, about('list', { namespace: 'n' }), 'list'],
    [configs, about('list'), 'list'],
    [configs, about('list', { name: 'c', selected: true }), 'list'], [configs, about('watch', object), 'watch'],
    [configs, about('options', object), 'get'],
    [configs, about('update', { ...object, subresource: 'status' }), 'update status'],
    [configs, about('get', { ...object, subresource: 'scale' }), 404], [configs, about('get', { name: 'c' }), 404],
    [configs, about('get', { namespace: 'No', name: 'c' }), 404], [configs, about('patch', object), 405],
    [configs, about('create'), 405], [configs, about('create', object), 405],
    [configs, about('delete', { namespace: 'n' }), 405],
    [configs, about('get', { namespace: 'n', subresource: 'status' }), 405],
    [spaces, about('get', { namespace: 'n', name: 'n' }), 'get'],
    [spaces, about('get', object), 404], [spaces, about('create'), 'create']
  ] as const) {
    t.equal(outcome(() => table?.of(info, 'GET')), expected, JSON.stringify(info))
  }
  for (const method of ['HEAD', 'OPTIONS']) {
    t.equal(outcome(() => configs?.of(about('get', object), method)), 405)
    t.equal(
      outcome(() => configs?.of(about('get', { ...object, rest: 'x' }), method)), 'get',
      'only what is proxied has these'
    )
  }
})

t.test('no type is added to a registry without admission', t => {
  t.throws(() => registry().add(configMaps), { message: /call admitWith first/ })
  t.end()
})
