/** Properties of every apply and update, by any manager. */
import t from 'tap'
import { compare } from '../../../registry/apply/compare.js'
import { EMPTY, difference, equals, intersection, isEmpty, union } from '../../../registry/apply/field-set.js'
import { merge, remove } from '../../../registry/apply/merge.js'
import { shapesOf } from '../../../registry/apply/shape.js'
import { random } from '../../random.js'
import { Box, Play } from './scenario.js'

const { seed, int } = random()
const pick = <T>(...values: readonly T[]): T => values[int(values.length)] as T // there is one
const { owned, whole } = shapesOf(Box)

function someBox (): object {
  const some = <T>(make: () => T): T[] => Array.from({ length: int(3) }, make)
  const entries = (): object => Object.fromEntries(some(() => [pick('x', 'y', '__p'), pick('1', '2')]))
  const byName = (items: Array<{ name: string }>): object[] => [
    ...new Map(items.map(item => [item.name, item])).values()
  ]
  const ports = (): object[] => [...new Set(some(() => pick(80, 443)))]
    .map(port => ({ port, protocol: pick('TCP', 'UDP'), ...pick({}, { name: 'n' }) }))
  const parts: object = {
    count: int(3),
    text: pick('a', 'b'),
    probe: pick({ path: '/' }, { seconds: 5 }, {}),
    pair: pick({ left: 'l' }, { left: 'l', right: 'r' }),
    entries: entries(),
    whole: entries(),
    items: byName(some(() => ({
      name: pick('i', 'j'), ...pick({}, { value: pick('1', '2') }, { more: entries() }, { ports: ports() })
    }))),
    tags: [...new Set(some(() => pick('s', 't', 'u')))],
    lines: some(() => pick('1', '2'))
  }
  return Object.fromEntries(Object.entries(parts).filter(() => int(3) > 0))
}

t.test('apply twice is apply once, and a then b then a without change changes nothing', async t => {
  t.comment(`seed ${seed}`)
  for (let round = 0; round < 400; round++) {
    const play = new Play()
    if (int(2) === 0) play.do({ by: 'u', update: someBox() })
    const [a, b] = [{ by: 'a', apply: someBox(), force: true }, { by: 'b', apply: someBox(), force: true }]
    play.do(a)
    const once = JSON.stringify([play.object, play.managers])
    play.do(a)
    if (JSON.stringify([play.object, play.managers]) !== once) {
      t.equal(JSON.stringify([play.object, play.managers]), once, JSON.stringify(a))
    }
    play.do({ ...b, force: false })
    if (play.conflicts.length > 0) continue
    const after = JSON.stringify([play.object, play.managers])
    play.do({ ...a, force: false })
    play.do({ ...b, force: false })
    if (JSON.stringify([play.object, play.managers]) !== after) {
      t.equal(JSON.stringify([play.object, play.managers]), after, JSON.stringify([a, b]))
    }
  }
  t.pass('400 plays')
})

t.test('after any writes every owned field is one the object has, and an applier has all it said', async t => {
  t.comment(`seed ${seed}`)
  for (let round = 0; round < 300; round++) {
    const play = new Play()
    const steps: object[] = []
    // Fields that somebody applied as empty counted as set then, also for others who had set them.
    let empty = EMPTY
    for (let step = 0; step < 5; step++) {
      const by = pick('a', 'b', 'c')
      const made = int(2) === 0 ? { by, update: someBox() } : { by, apply: someBox(), force: int(2) === 0 }
      steps.push(made)
      play.do(made)
      const there = compare(owned, {}, play.object).changed
      const said = play.managers.filter(({ operation }) =>
        operation === 'Apply').map(({ fields }) => difference(fields, there))
      empty = said.reduce(union, empty)
      for (const { manager, operation, fields } of play.managers) {
        const dangling = difference(difference(fields, there), empty)
        if (operation === 'Update' && !isEmpty(dangling)) {
          t.same(dangling, {}, `${manager} after ${JSON.stringify(steps)}`)
        }
      }
      if ('apply' in made && play.conflicts.length === 0) {
        const missing = merge(whole, structuredClone(play.object), made.apply) as object // of an object
        if (!isEmpty(compare(owned, play.object, missing).changed)) t.same(play.object, missing, JSON.stringify(steps))
      }
    }
  }
  t.pass('300 plays')
})

t.test('merging and then removing what was new returns to the start; equal objects have no differences', async t => {
  t.comment(`seed ${seed}`)
  for (let round = 0; round < 500; round++) {
    const play = new Play()
    play.do({ by: 'a', update: someBox() })
    const [start, config] = [play.object, someBox()]
    const merged = merge(whole, structuredClone(start), config) as object // of an object
    const { changed, removed } = compare(owned, start, merged)
    if (!isEmpty(removed)) continue // zeros take away
    const there = compare(owned, {}, start).changed
    const back = remove(whole, structuredClone(merged), difference(changed, there)) as object // of an object
    const left = compare(owned, start, back)
    // Only fields that existed before with another value may differ.
    if (!isEmpty(left.removed) || !isEmpty(difference(left.changed, intersection(changed, there)))) {
      t.same(back, start, JSON.stringify([start, config]))
    }
    if (!equals(compare(owned, merged, structuredClone(merged)).changed, {})) t.fail('a copy differs')
  }
  t.pass('500 pairs')
})
