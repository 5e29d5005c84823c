/** A feed on simulated etcds: with progress that counts, with progress that does not, and without any. */
import t, { type Test } from 'tap'
import { setTimeout as pass } from 'node:timers/promises'
import { SharedWatch } from '../../../storage/etcd/shared-watch.js'
import type { StreamListener } from '../../../storage/etcd/transport.js'
import { until } from '../../interop/server.js'
import { encoded, judged } from './protocol.js'

const START = 10
/** Milliseconds: longer than a feed waits for an event before it requests progress, and before it writes. */
const LONG = 60

/**
 * `early`: responds to progress requests ahead of the watch and of events; `ordered`: behind them, and not without a
 * watch; `mute`: never.
 */
type Kind = 'early' | 'ordered' | 'mute'

class Played {
  /** Progress requests on a stream that has its watch. */
  asked = 0
  marks = 0
  streams = 0
  /** The newest revision. */
  revision = START
  kind: Kind
  /** Delays the event of a mark until it resolves. */
  held: Promise<void> = Promise.resolve()
  readonly told: Array<{ keys: string[], revision: number }> = []
  readonly feed: SharedWatch
  #listener: StreamListener | undefined
  #watching = false

  constructor (t: Test, kind: Kind) {
    this.kind = kind
    this.feed = new SharedWatch({
      connection: {
        offset: 0,
        watchStream: async listener => {
          this.streams++
          this.#listener = listener
          this.#watching = false
          return {
            stream: { write: message => { setImmediate(() => { this.#take(message) }) }, cancel: () => { this.cut() } },
            moveOn: () => {}
          }
        }
      },
      start: Buffer.from('/a/'),
      end: Buffer.from('/a0'),
      markKey: '/a/.progress',
      newestSeen: () => this.revision,
      mark: async () => {
        this.marks++
        const revision = ++this.revision
        await this.held
        this.event('/a/.progress', revision)
        return revision
      }
    }, START, {
      previous: false,
      events: (events, revision) => { this.told.push({ keys: events.map(({ kv }) => kv.key), revision }) },
      compacted: () => {}
    })
    t.teardown(() => { this.feed.close() })
  }

  event (key: string, revision = ++this.revision): void {
    this.#say({
      header: { revision },
      watch_id: 0,
      events: [
        { type: 0, kv: { key: Buffer.from(key), mod_revision: revision, create_revision: revision, version: 1 } }
      ]
    })
  }

  progress (): void { this.#say({ header: { revision: this.revision }, watch_id: -1 }) }

  cut (): void {
    const listener = this.#listener
    this.#listener = undefined
    this.#watching = false
    listener?.end(new Error('cut'))
  }

  #say (message: Record<string, unknown>): void { this.#listener?.message(encoded('WatchResponse', message)) }

  #take (framed: Buffer): void {
    if ('create_request' in judged('WatchRequest', framed)) {
      this.#watching = true
      this.#say({ header: { revision: this.revision }, watch_id: 0, created: true })
      return
    }
    if (this.#watching) this.asked++
    if (this.kind === 'early' || (this.kind === 'ordered' && this.#watching)) this.progress()
  }
}

t.test('where progress follows events, one request brings a feed up to the store', async t => {
  const etcd = new Played(t, 'ordered')
  etcd.revision = 15
  etcd.feed.catchUpTo(15)
  await until('the feed to be there', () => etcd.feed.position === 15)
  t.same(etcd.told, [{ keys: [], revision: 15 }])
  etcd.feed.catchUpTo(12)
  await pass(LONG)
  t.same([etcd.asked, etcd.marks], [1, 0], 'and nothing is written, and known progress is not requested')
})

t.test(
  'where progress may overtake events it is not trusted: a key is written, and its event is the proof', async t => {
    const etcd = new Played(t, 'early')
    let release = () => {}
    etcd.held = new Promise(resolve => { release = resolve })
    etcd.revision = 15
    etcd.feed.catchUpTo(15)
    await until('a key to be written', () => etcd.marks === 1)
    t.equal(etcd.feed.position, START, 'the answer to the first request did not count')
    t.equal(etcd.asked, 0, 'and it is not requested again')
    etcd.event('/a/queued', 14)
    t.equal(etcd.feed.position, 14)
    release()
    await until('the feed to be there', () => etcd.feed.position === 16)
    t.same(etcd.told, [{ keys: ['/a/queued'], revision: 14 }, { keys: [], revision: 16 }], 'watches do not see the key')
    etcd.revision = 20
    etcd.feed.catchUpTo(20)
    etcd.feed.catchUpTo(20)
    await until('the feed to be there', () => etcd.feed.position === 21)
    t.equal(etcd.marks, 2, 'one write for all waiting feeds')
  }
)

t.test('an event that is on its way saves the question and the write', async t => {
  for (const kind of ['ordered', 'early'] as const) {
    const etcd = new Played(t, kind)
    await until('a stream', () => etcd.streams === 1)
    await pass(LONG)
    for (let n = 1; n <= 20; n++) {
      etcd.feed.catchUpTo(START + n)
      etcd.event('/a/b')
      await pass(0)
    }
    await pass(LONG)
    t.same([etcd.feed.position, etcd.asked, etcd.marks], [START + 20, 0, 0], kind)
  }
})

t.test('an unanswered request for progress is repeated, then a key is written', async t => {
  const etcd = new Played(t, 'mute')
  etcd.revision = 15
  etcd.feed.catchUpTo(15)
  await until('the feed to be there', () => etcd.feed.position === 16)
  t.ok(etcd.asked > 1, `asked ${etcd.asked} times`)
  t.equal(etcd.marks, 1)
  etcd.kind = 'ordered'
  etcd.revision = 20
  etcd.feed.catchUpTo(20)
  await until('the feed to be there', () => etcd.feed.position === 20)
  t.equal(etcd.marks, 1, 'and as soon as it answers, that is enough')
})

t.test('the kind of server is detected again for each connection', async t => {
  const etcd = new Played(t, 'ordered')
  await until('a stream', () => etcd.streams === 1)
  etcd.cut()
  etcd.kind = 'early'
  etcd.revision = 15
  etcd.feed.catchUpTo(15)
  await until('the feed to be there', () => etcd.feed.position === 16)
  t.same([etcd.streams, etcd.asked, etcd.marks], [2, 0, 1])
  etcd.cut()
  etcd.kind = 'ordered'
  etcd.revision = 20
  etcd.feed.catchUpTo(20)
  await until('the feed to be there', () => etcd.feed.position === 20)
  t.same([etcd.streams, etcd.asked, etcd.marks], [3, 1, 1])
})
