import t from 'tap'
import { OrderedMap } from '../../../storage/cache/ordered-map.js'
import { random } from '../../random.js'

const collect = (map: OrderedMap<number>, start = '', end = '\uffff', limit = Infinity): string[] => {
  const keys: string[] = []
  map.forEach(start, end, (_, key) => keys.push(key) < limit)
  return keys
}

t.test('behaves as a sorted Map under random changes, and old versions stay as they were', async t => {
  const { next, seed } = random()
  t.comment(`seed ${seed}`)
  let map = OrderedMap.empty<number>()
  const model = new Map<string, number>()
  const snapshots: Array<{ map: OrderedMap<number>, keys: string[] }> = []
  for (let step = 0; step < 20_000; step++) {
    const key = `k${Math.floor(next() * 3000)}`
    const growing = Math.floor(step / 4000) % 2 === 0
    if (next() < (growing ? 0.75 : 0.2)) {
      map = map.set(key, step)
      model.set(key, step)
    } else {
      map = map.delete(key)
      model.delete(key)
    }
    if (step % 1000 === 0) snapshots.push({ map, keys: [...model.keys()].sort() })
  }
  const sorted = [...model.keys()].sort()
  t.same(collect(map), sorted)
  t.equal(map.size, model.size)
  for (const key of sorted) if (map.get(key) !== model.get(key)) t.fail(`wrong value at ${key}`)
  for (const [start, end] of [['k1', 'k2'], ['k25', 'k3'], ['', 'k'], ['k9', 'z'], ['k5', 'k1']] as const) {
    const expected = sorted.filter(key => key >= start && key < end)
    t.same(collect(map, start, end), expected)
    t.equal(map.count(start, end), expected.length)
    t.same(collect(map, start, end, 3), expected.slice(0, 3))
  }
  for (const snapshot of snapshots) t.same(collect(snapshot.map), snapshot.keys)
})

t.test('builds from sorted pairs', async t => {
  for (const size of [0, 1, 31, 32, 33, 5000]) {
    const keys = Array.from({ length: size }, (_, at) => `k${at}`).sort()
    const map = OrderedMap.fromSorted(keys.map((key, at) => [key, at] as const))
    t.same(collect(map), keys)
    t.equal(map.set('zz', 1).delete('k0').size, size === 0 ? 1 : size)
  }
})

t.test('empties completely', async t => {
  let map = OrderedMap.empty<number>()
  for (let at = 0; at < 500; at++) map = map.set(`k${at}`, at)
  for (let at = 0; at < 500; at++) map = map.delete(`k${at}`)
  t.equal(map.size, 0)
  t.same(collect(map), [])
  t.equal(map.delete('nothing'), map)
})
