/** The watches of one back end on a simulated etcd. */
import t from 'tap'
import { setImmediate as turn } from 'node:timers/promises'
import { Watches } from '../../../storage/etcd/watches.js'
import type { StreamListener } from '../../../storage/etcd/transport.js'
import { encoded, judged } from './protocol.js'

const MARK = '/.progress'

const eventOf = (key: string, revision: number) => ({
  type: 0, kv: { key: Buffer.from(key), mod_revision: revision, create_revision: revision, version: 1 }
})

t.test('a request for progress is answered even if an event brings the feed there', async t => {
  let listener: StreamListener | undefined
  let seen = 10
  const say = (message: Record<string, unknown>): void => { listener?.message(encoded('WatchResponse', message)) }
  const watches = new Watches({
    connection: {
      offset: 0,
      watchStream: async given => {
        listener = given
        const write = (framed: Buffer): void => {
          if ('create_request' in judged('WatchRequest', framed)) {
            say({ header: { revision: seen }, watch_id: 0, created: true })
          }
        }
        return { stream: { write, cancel: () => {} }, moveOn: () => {} }
      }
    },
    start: Buffer.from('/'),
    end: Buffer.from('0'),
    mark: async () => await new Promise(() => {}),
    markKey: MARK,
    newestSeen: () => seen,
    previous: false,
    revision: async () => seen,
    compacted: () => 0,
    noteCompacted: () => {}
  })
  t.teardown(() => { watches.close() })
  const told: Array<[string, number]> = []
  const watch = (range: string, after: number): void => {
    watches.add({
      start: `/${range}/`,
      end: `/${range}0`,
      after,
      previous: false,
      onEvents: (_events, revision) => { told.push([`events of ${range}`, revision]) },
      onProgress: revision => { told.push([`progress of ${range}`, revision]) },
      onEnd: () => {}
    }).requestProgress()
  }
  watch('a', 10)
  for (let turns = 0; turns < 5; turns++) await turn()
  told.length = 0
  seen = 11
  watch('b', 11) // listed before the feed had come so far
  for (let turns = 0; turns < 5; turns++) await turn()
  t.same(told, [], 'the feed is behind')
  say({ header: { revision: 13 }, watch_id: 0, events: [eventOf('/b/new', 12), eventOf(MARK, 13)] })
  t.same(told, [['progress of a', 13], ['events of b', 13], ['progress of b', 13]])
})
