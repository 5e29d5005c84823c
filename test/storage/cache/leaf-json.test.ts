import t from 'tap'
import { Entry } from '../../../storage/cache/entry.js'
import { keptForms, sweep } from '../../../storage/cache/forms-budget.js'
import { leafJson } from '../../../storage/cache/leaf-json.js'
import { OrderedMap } from '../../../storage/cache/ordered-map.js'

const entry = (key: string, text = key): Entry => new Entry(key, 1, Buffer.from(`${text}\n`), undefined, [])

function leavesOf (map: OrderedMap<Entry>): Array<readonly Entry[]> {
  const leaves: Array<readonly Entry[]> = []
  map.forEachRun('', '\uffff', ({ values }) => { leaves.push(values); return true })
  return leaves
}

t.test('the JSON of a leaf is joined at its second listing, shared, and dropped when unused', async t => {
  const [leaf = []] = leavesOf(OrderedMap.fromSorted(['a', 'b', 'c'].map(key => [key, entry(key)])))
  t.equal(leafJson(leaf), undefined, 'once is no use')
  const joined = leafJson(leaf)
  t.equal(joined?.toString(), 'a,b,c,')
  t.equal(leafJson(leaf), joined)
  sweep()
  t.equal(leafJson(leaf), joined)
  sweep()
  sweep()
  t.equal(keptForms().bytes, 0)
  t.not(leafJson(leaf), joined)
  t.equal(leafJson(leaf)?.toString(), 'a,b,c,')
})

t.test('each view of a leaf has bytes of its own', async t => {
  const [leaf = []] = leavesOf(OrderedMap.fromSorted(['a', 'b'].map(key => [key, entry(key)])))
  const loud = { id: 'loud', entry: ({ key }: Entry) => entry(key, key.toUpperCase()) }
  t.equal(leafJson(leaf), undefined)
  t.equal(leafJson(leaf, loud), undefined, 'once is no use')
  t.equal(leafJson(leaf, loud)?.toString(), 'A,B,')
  t.equal(leafJson(leaf)?.toString(), 'a,b,')
  t.equal(leafJson(leaf, { id: 'loud', entry: () => { throw new Error('shown again') } })?.toString(), 'A,B,')
})

t.test('a change makes another run of its leaf and leaves the others', async t => {
  const map = OrderedMap.fromSorted(Array.from({ length: 200 }, (_, at) => String(at).padStart(3, '0')).map(key => [key, entry(key)]))
  const before = leavesOf(map)
  t.ok(before.length > 3)
  for (const changed of [map.set('050', entry('050', 'new')), map.delete('050')]) {
    const after = leavesOf(changed)
    t.equal(after.filter(leaf => before.includes(leaf)).length, before.length - 1)
  }
})

t.test('a run of large objects is not held twice', async t => {
  const run = [entry('a', 'x'.repeat(300_000))]
  for (let time = 0; time < 3; time++) t.equal(leafJson(run), undefined)
})
