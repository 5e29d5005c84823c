/** Rows of Tables in watches: made once for each change and kind of row, and shared. */
import { OWN_NAMES } from '../../../schemas/naming.js'
import t, { type Test } from 'tap'
import { watchForm, type WatchEncoder } from '../../../answers/watch/encoder.js'
import { chunkContent } from '../../../answers/watch/framing.js'
import { Entry } from '../../../storage/cache/entry.js'
import { CacheEvent } from '../../../storage/cache/event.js'
import { systemClock } from '../../../event-loop/clock.js'
import type { ResourceStore } from '../../../registry/resource-store.js'
import { configMaps } from '../../stored.js'

const TYPE = 'application/json'

function entryOf (name: string, revision: number): Entry {
  const json = JSON.stringify({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace: 'd', resourceVersion: String(revision) },
    data: { a: 'b' }
  })
  return new Entry(`/${name}`, revision, Buffer.from(`${json}\n`), undefined, [name, 'd'])
}
const eventOf = (name: string, revision: number): CacheEvent =>
  new CacheEvent('MODIFIED', revision, entryOf(name, revision), undefined)

/** A store that counts its cells. */
function counted (): { made: () => number, open: (include: string, chunked?: boolean) => WatchEncoder } {
  let count = 0
  const columns = [
    {
      ...configMaps.columns?.[0],
      cell: ({ metadata }: { metadata: { name?: string } }) => { count++; return metadata.name ?? '' }
    }
  ]
  const representation = { ...configMaps, columns }
  // the members that are read
  const store = {
    representation, tabular: representation, clock: systemClock
  } as unknown as ResourceStore
  const open = (include: string, chunked = false): WatchEncoder => {
    const accept = { format: 'json', as: 'Table', asVersion: 'meta.orch.io/v1', pretty: false } as const
    const form = watchForm({ naming: OWN_NAMES, accept, query: new URLSearchParams({ includeObject: include }) }, store)
    if (form.type !== TYPE) throw new Error(form.type)
    return form.encoder(chunked)
  }
  return { made: () => count, open }
}

const parsed = (bytes: Buffer): Array<{
  type: string
  object: { columnDefinitions: object[] | null, rows: Array<{ cells: unknown[] }> }
}> =>
  bytes.toString().trim().split('\n').map(line => JSON.parse(line) as never)

t.test('watches share the row of a change, and only the first event of each has columns', async t => {
  const { made, open } = counted()
  const [first, second] = [eventOf('a', 1), eventOf('b', 2)]
  const watches = Array.from({ length: 20 }, () => open('Metadata'))
  for (const watch of watches) {
    t.match(parsed(watch.batch([first], '1')), [
      {
        type: 'MODIFIED',
        object: {
          kind: 'Table',
          columnDefinitions: [{ type: 'string' }],
          metadata: { resourceVersion: '1' },
          rows: [{ cells: ['a'], object: { kind: 'PartialObjectMetadata' } }]
        }
      }
    ])
  }
  t.equal(made(), 1)
  const [bytes] = watches.map(watch => watch.batch([second], '2'))
  for (const watch of watches) t.equal(watch.batch([second], '2'), bytes, 'the same bytes')
  t.match(parsed(bytes as Buffer), [{ object: { columnDefinitions: null, rows: [{ cells: ['b'] }] } }])
  t.equal(made(), 2)
  for (let at = 0; at < 20; at++) {
    open('None').encodeVersioned([second], event => ({ type: 'ADDED', event, last: false }))
  }
  t.equal(made(), 3, 'another kind of row is made once more')
})

t.test('columns are added to the first of several events, with and without framing', async t => {
  await both(t, bytes => parsed(bytes), false)
  await both(t, bytes => {
    const lines = []
    for (let rest = bytes; rest.length > 0;) {
      const size = Number.parseInt(rest.toString('latin1', 0, rest.indexOf('\n')), 16)
      const whole = rest.subarray(0, rest.indexOf('\n') + 1 + size + 2)
      lines.push(...parsed(chunkContent(whole)))
      rest = rest.subarray(whole.length)
    }
    return lines
  }, true)
})

async function both (t: Test, read: (bytes: Buffer) => ReturnType<typeof parsed>, chunked: boolean): Promise<void> {
  const events = [eventOf('"columnDefinitions":null', 1), eventOf('b', 2), eventOf('c', 3)]
  const columnsOf = (bytes: Buffer): unknown[] =>
    read(bytes).map(({ object }) => [object.columnDefinitions?.length ?? null, object.rows[0]?.cells[0]])
  const { open } = counted()
  const watch = open('Object', chunked)
  t.same(columnsOf(watch.batch(events, 'x')), [[1, '"columnDefinitions":null'], [null, 'b'], [null, 'c']])
  t.same(columnsOf(watch.batch(events, 'x')), [[null, '"columnDefinitions":null'], [null, 'b'], [null, 'c']])
  const other = open('Object', chunked)
  t.equal(other.encodeVersioned(events, () => undefined).length, 0)
  t.same(columnsOf(other.added([[entryOf('d', 4), entryOf('e', 5)]])), [[1, 'd'], [null, 'e']])
}
