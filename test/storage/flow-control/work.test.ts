import t from 'tap'
import { estimate, workOfList, workOfWrite } from '../../../storage/flow-control/work.js'
import type { ResourceRegistry } from '../../../storage/registry.js'

t.test('a list is as wide as the objects that it goes through, up to ten seats', t => {
  const seats = (objects: number, limit = 0, selects = false): number => workOfList(objects, { limit, selects }).seats
  t.same([0, 1, 100, 101, 250, 1000, 5_000_000].map(objects => seats(objects)), [1, 1, 1, 2, 3, 10, 10])
  t.equal(seats(5000, 500), 5, 'a page goes through its part')
  t.equal(seats(200, 500), 2)
  t.equal(seats(5000, 500, true), 10, 'and may go through all where it selects')
  t.equal(seats(5000, -3), 10)
  t.equal(seats(5000, NaN), 10)
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
  const store = { cache: { watchesOf: () => 50 }, key: () => '', scope: () => '' }
  const resources = { find: () => store } as unknown as ResourceRegistry // as far as it is asked
  const seats = (verb: string): number =>
    estimate({ path: '', isResourceRequest: true, verb, group: '', version: 'v1', resource: 'pods', subresource: '', namespace: 'a', name: 'b' }, { query: new URLSearchParams() }, resources).work.finalSeats
  t.same(['create', 'update', 'patch', 'delete', 'deletecollection', 'get', 'connect'].map(seats), [5, 5, 5, 5, 0, 0, 0])
  t.end()
})
