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
