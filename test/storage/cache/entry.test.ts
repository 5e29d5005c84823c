import t from 'tap'
import { Entry } from '../../../storage/cache/entry.js'

const entry = (revision: number, name = 'a'): Entry => {
  const resourceVersion = String(revision)
  const json = JSON.stringify({
    kind: 'ConfigMap',
    apiVersion: 'v1',
    metadata: { name, uid: 'u', resourceVersion, labels: { resourceVersion } },
    data: { ü: '"resourceVersion":"9"' }
  })
  return new Entry('/a', revision, Buffer.from(`${json}\n`), { a: 'b' }, [name, 'n'])
}

t.test(
  'the last state of an object at the revision at which it was deleted is its bytes with that revision', async t => {
    for (const [before, after] of [[9, 10], [99, 100_000], [7, 8]] as const) {
      const last = entry(before).at(after)
      t.equal(
        last.json.toString(),
        entry(before).json.toString().replace(`"resourceVersion":"${before}"`, `"resourceVersion":"${after}"`)
      )
      t.match(last, { key: '/a', revision: after, labels: { a: 'b' }, name: 'a', namespace: 'n' })
      t.equal(last.object.metadata.resourceVersion, String(after))
      t.equal(last.object.metadata.labels?.resourceVersion, String(before))
    }
    t.throws(() => new Entry('/a', 5, Buffer.from('{}\n'), undefined, []).at(6), TypeError)
  }
)

t.test('an entry that nobody has read is read when it is first needed, once', async t => {
  let read = 0
  const unread = (): Entry => Entry.unread('/a', 9, {
    bytes: 3,
    read: () => {
      read++
      return entry(9)
    }
  })
  t.match(unread(), { key: '/a', revision: 9, bytes: 3 })
  t.equal(read, 0, 'what the store says of it costs nothing')
  const ways = [
    ({ json }: Entry) => json.equals(entry(9).json), ({ labels }: Entry) => labels?.['a'] === 'b',
    ({ fields }: Entry) => fields[0] === 'a', ({ name }: Entry) => name === 'a',
    ({ object }: Entry) => object.metadata.resourceVersion === '9'
  ]
  for (const [at, isRead] of ways.entries()) {
    const one = unread()
    t.ok(isRead(one) && isRead(one))
    t.equal(read, at + 1)
    t.equal(one.bytes, entry(9).json.length)
  }
})

t.test('the deletion of an entry that nobody has read does not read it', async t => {
  let read = 0
  const deleted = Entry.unread('/a', 9, { bytes: 3, read: () => { read++; return entry(9) } }).at(12)
  t.match(deleted, { key: '/a', revision: 12, bytes: 3 })
  t.equal(read, 0)
  t.equal(deleted.object.metadata.resourceVersion, '12')
})

t.test('an entry that cannot be read says so each time', async t => {
  const broken = Entry.unread('/a', 9, { bytes: 3, read: () => { throw new Error('damaged') } })
  for (let time = 0; time < 2; time++) t.throws(() => broken.json, /damaged/)
})
