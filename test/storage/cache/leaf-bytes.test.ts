import t from 'tap'
import { Entry } from '../../../storage/cache/entry.js'
import { keptForms, sweep } from '../../../storage/cache/forms-budget.js'
import { jsonItems, leafBytes } from '../../../storage/cache/leaf-bytes.js'
import { OrderedMap } from '../../../storage/cache/ordered-map.js'

const entry = (key: string, text = key): Entry => new Entry(key, 1, Buffer.from(`${text}\n`), undefined, [])

function leavesOf (map: OrderedMap<Entry>): Array<readonly Entry[]> {
  const leaves: Array<readonly Entry[]> = []
  map.forEachRun('', '\uffff', ({ values }) => { leaves.push(values); return true })
  return leaves
}

t.test('the items of a leaf are joined at its second listing, shared, and dropped when unused', async t => {
  const [leaf = []] = leavesOf(OrderedMap.fromSorted(['a', 'b', 'c'].map(key => [key, entry(key)])))
  t.equal(leafBytes(leaf), undefined, 'once is no use')
  const joined = leafBytes(leaf)
  t.equal(joined?.toString(), 'a,b,c,')
  t.equal(leafBytes(leaf), joined)
  sweep()
  t.equal(leafBytes(leaf), joined)
  sweep()
  sweep()
  t.equal(keptForms().bytes, 0)
  t.not(leafBytes(leaf), joined)
  t.equal(leafBytes(leaf)?.toString(), 'a,b,c,')
})

t.test('each view of a leaf has bytes of its own', async t => {
  const [leaf = []] = leavesOf(OrderedMap.fromSorted(['a', 'b'].map(key => [key, entry(key)])))
  const loud = jsonItems('loud', ({ key }) => entry(key, key.toUpperCase()).json)
  t.equal(leafBytes(leaf), undefined)
  t.equal(leafBytes(leaf, loud), undefined, 'once is no use')
  t.equal(leafBytes(leaf, loud)?.toString(), 'A,B,')
  t.equal(leafBytes(leaf)?.toString(), 'a,b,')
  t.equal(leafBytes(leaf, jsonItems('loud', () => { throw new Error('shown again') }))?.toString(), 'A,B,')
})

t.test('a change makes another run of its leaf and leaves the others', async t => {
  const keys = Array.from({ length: 200 }, (_, at) => String(at).padStart(3, '0'))
  const map = OrderedMap.fromSorted(keys.map(key => [key, entry(key)]))
  const before = leavesOf(map)
  t.ok(before.length > 3)
  for (const changed of [map.set('050', entry('050', 'new')), map.delete('050')]) {
    const after = leavesOf(changed)
    t.equal(after.filter(leaf => before.includes(leaf)).length, before.length - 1)
  }
})

t.test('nothing is made again of a leaf that has turned out too long', async t => {
  const [leaf = []] = leavesOf(OrderedMap.fromSorted(['a', 'b', 'c'].map(key => [key, entry(key)])))
  let made = 0
  const long = jsonItems('long', () => {
    made++
    return Buffer.alloc(100_000)
  })
  for (let listed = 0; listed < 3; listed++) t.equal(leafBytes(leaf, long), undefined)
  t.equal(made, 2, 'two are too long together')
})

t.test('a run of large objects is not held twice', async t => {
  const run = [entry('a', 'x'.repeat(300_000))]
  for (let time = 0; time < 3; time++) t.equal(leafBytes(run), undefined)
})
