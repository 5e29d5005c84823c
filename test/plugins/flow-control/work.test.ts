import t from 'tap'
import { OrderedMap } from '../../../storage/cache/ordered-map.js'
import { estimate, narrowed, workOfList, workOfWrite } from '../../../plugins/flow-control/work.js'
import type { ResourceRegistry } from '../../../registry/resource-registry.js'

t.test('the seats of a list follow from the number of objects it reads, up to ten', t => {
  const seats = (objects: number, limit = 0, selects = false): number => workOfList(objects, { limit, selects }).seats
  t.same([0, 1, 100, 101, 250, 1000, 5_000_000].map(objects => seats(objects)), [1, 1, 1, 2, 3, 10, 10])
  t.equal(seats(5000, 500), 5, 'a page counts its limit')
  t.equal(seats(200, 500), 2)
  t.equal(seats(5000, 500, true), 10, 'and may go through all where it selects')
  t.equal(seats(5000, -3), 10)
  t.equal(seats(5000, NaN), 10)
  t.end()
})

t.test('a list takes a part of its level only, and no more than its hand', t => {
  const seats = (nominal: number, handSize: number): number =>
    narrowed(workOfList(5000, { limit: 0, selects: false }), { nominal, handSize }).seats
  t.same([seats(600, 1), seats(40, 4), seats(10, 8), seats(10, 0), seats(0, 8)], [10, 6, 1, 2, 1])
  t.equal(narrowed(workOfList(50, { limit: 0, selects: false }), { nominal: 600, handSize: 8 }).seats, 1)
  t.end()
})

t.test('a write is followed by the events that it causes', t => {
  t.match(workOfWrite(0), { seats: 1, finalSeats: 0 })
  t.match(workOfWrite(9), { seats: 1, finalSeats: 0 })
  t.match(workOfWrite(10), { seats: 1, finalSeats: 1, finalMs: 5 })
  t.match(workOfWrite(95), { seats: 1, finalSeats: 10, finalMs: 5 })
  t.match(workOfWrite(1000), { seats: 1, finalSeats: 10, finalMs: 50 }, 'more seats than one may have are more time')
  t.end()
})

t.test('only what writes one object is followed by its event', t => {
  const store = {
    type: { representations: [] }, cache: { watchesOf: () => 50 }, keys: { of: () => '', scope: () => '' }
  }
  const resources = { find: () => store } as unknown as ResourceRegistry // the member that is read
  const seats = (verb: string): number =>
    estimate(
      {
        path: '',
        isResourceRequest: true,
        verb,
        group: '',
        version: 'v1',
        resource: 'pods',
        subresource: '',
        namespace: 'a',
        name: 'b'
      },
      new URLSearchParams(),
      {},
      resources
    ).work.finalSeats
  t.same(
    ['create', 'update', 'patch', 'delete', 'deletecollection', 'get', 'connect'].map(seats), [5, 5, 5, 5, 0, 0, 0]
  )
  t.end()
})

/** A fake store with `count` objects of `length` bytes of JSON each. */
function storeOf (count: number, length: number): ResourceRegistry {
  // the members that are read
  const map = OrderedMap.fromSorted(Array.from(
    { length: count },
    (_, at) => [`/a/${String(at).padStart(4, '0')}`, { bytes: length, json: { length } }] as [string, never]
  ))
  const store = {
    type: { representations: [] },
    cache: { loaded: true, watchesOf: () => 0, snapshot: { map } },
    keys: {
      of: (_: string, name: string) => `/a/${name}`, scope: () => '/a/', range: () => ({ start: '/a/', end: '/a0' })
    }
  }
  return { find: () => store } as unknown as ResourceRegistry
}

t.test(
  'bytes count as objects do: little where they are only copied, much where they are made into something else', t => {
    const info = {
      path: '',
      isResourceRequest: true,
      verb: 'list',
      group: '',
      version: 'v1',
      resource: 'configmaps',
      subresource: '',
      namespace: 'a',
      name: ''
    }
    const list = (count: number, length: number, accept?: string, query = ''): number =>
      estimate(info, new URLSearchParams(query), { accept }, storeOf(count, length)).work.seats
    const get = (length: number, accept?: string, query = ''): number => estimate(
      { ...info, verb: 'get', name: '0000' }, new URLSearchParams(query), { accept }, storeOf(1, length)
    ).work.seats
    const large = 400 * 1024
    t.equal(list(90, 2400), 1)
    t.equal(list(3, large), 2, 'a seat for each MiB')
    for (const [accept, query] of [
      ['application/yaml'],
      ['application/json;as=Table;g=meta.orch.io;v=v1, application/json'],
      ['application/vnd.orch.protobuf'],
      ['application/json;q=0.1,application/yaml'],
      ['application/json;pretty=1'],
      [undefined, 'pretty=true']
    ] as const) {
      t.equal(list(3, large, accept, query), 10, `${accept} ${query}`)
      t.equal(list(3, large, accept, `${query ?? ''}&limit=1`), 7)
      t.equal(get(large, accept, query), 7)
      t.equal(get(2400, accept, query), 1)
    }
    for (const accept of [undefined, '*/*', 'application/json', 'application/json, */*']) t.equal(get(large, accept), 1)
    t.equal(list(1001, 10), 10)
    t.end()
  }
)

t.test('a write is as wide as its body and what it changes', t => {
  const info = {
    path: '',
    isResourceRequest: true,
    verb: 'patch',
    group: '',
    version: 'v1',
    resource: 'configmaps',
    subresource: '',
    namespace: 'a',
    name: '0000'
  }
  const seats = (verb: string, length: number, headers = {}): number => estimate(
    { ...info, verb, ...verb === 'create' ? { name: '' } : {} }, new URLSearchParams(), headers, storeOf(1, length)
  ).work.seats
  t.equal(seats('create', 0, { 'content-length': '2400' }), 1)
  t.equal(seats('create', 400_000, { 'content-length': '400000' }), 7)
  for (const headers of [{ 'transfer-encoding': 'chunked' }, { 'content-type': 'application/json' }]) {
    t.equal(seats('create', 0, headers), 10, 'of a body of unknown length')
  }
  t.equal(seats('patch', 400_000, { 'content-length': '50' }), 7, 'the size of the stored object counts')
  t.equal(seats('delete', 400_000), 7)
  t.equal(seats('update', 3_000_000, { 'content-length': '3000000' }), 10)
  t.end()
})

t.test(
  'a watch that begins with the state is charged as the list of it, with or without a mark; others as one seat', t => {
    const info = {
      path: '',
      isResourceRequest: true,
      verb: 'watch',
      group: '',
      version: 'v1',
      resource: 'configmaps',
      subresource: '',
      namespace: 'a',
      name: ''
    }
    const seats = (verb: string, query: string): number =>
      estimate({ ...info, verb }, new URLSearchParams(query), {}, storeOf(350, 10)).work.seats
    const streamed = 'watch=1&resourceVersionMatch=NotOlderThan&sendInitialEvents='
    for (const state of [
      'watch=1', 'watch=1&resourceVersion=0', 'watch=1&limit=5', `${streamed}true`, `${streamed}1&resourceVersion=0`,
      `${streamed}true&resourceVersion=7&labelSelector=a`
    ]) {
      t.equal(seats('watch', state), seats('list', ''), state)
    }
    t.equal(seats('list', ''), 4)
    for (const changes of ['watch=1&resourceVersion=7', `${streamed}false`, `${streamed}0&resourceVersion=7`]) {
      t.equal(seats('watch', changes), 1, changes)
    }
    t.end()
  }
)
