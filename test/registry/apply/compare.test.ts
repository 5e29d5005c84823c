import t from 'tap'
import { ConfigMap } from '../../../schemas/api/core/configmaps.js'
import { fromStructural } from '../../../schemas/custom/declaration.js'
import { compare, comparing, type Changes } from '../../../registry/apply/compare.js'
import { pathText, sortElements } from '../../../registry/apply/elements.js'
import { paths, size } from '../../../registry/apply/field-set.js'
import { shapesOf } from '../../../registry/apply/shape.js'

const { owned } = shapesOf(fromStructural({ group: 'example.com', version: 'v1', kind: 'Widget' }, {
  type: 'object', properties: { spec: { type: 'object', 'x-orch-preserve-unknown-fields': true } }
}))

t.test('free-form fields change with their parts, as declared ones do', async t => {
  for (const [before, after, changed, removed] of [
    [null, { a: 1 }, ['.spec.x.a'], []],
    [{ a: 1 }, null, [], ['.spec.x.a']],
    [{}, { a: 1 }, ['.spec.x.a'], []],
    [{ a: { b: null } }, { a: { b: { c: null } } }, ['.spec.x.a.b.c'], []],
    // A value that is empty on both sides is a leaf.
    [null, {}, ['.spec.x'], []],
    [null, [1], ['.spec.x'], []],
    [1, { a: 1 }, ['.spec.x', '.spec.x.a'], []]
  ] as const) {
    const differ = compare(owned, { spec: { x: before } }, { spec: { x: after } })
    t.same(
      [[...paths(differ.changed)].map(pathText), [...paths(differ.removed)].map(pathText)], [changed, removed],
      JSON.stringify([before, after])
    )
  }
})

t.test('lists and maps of thousands are compared in steps, as others are at once', async t => {
  const { owned } = shapesOf(ConfigMap)
  const refs = (prefix: string, length = 2000, more = {}): object[] => Array.from(
    { length },
    (_, index) => ({ apiVersion: 'v1', kind: 'Pod', name: prefix, uid: `${prefix}${(index * 7919) % length}`, ...more })
  )
  const map = (prefix: string, length = 2000, value = ''): object =>
    Object.fromEntries(refs(prefix, length).map(({ uid }: { uid?: string }) => [uid, value]))
  const lists = [
    undefined, [], refs('a'), refs('a').toReversed(), refs('a', 2000, { controller: false }), refs('b'),
    [...refs('a', 900), ...refs('b', 900)], [...refs('a', 600), ...refs('a', 600)]
  ]
  const maps = [undefined, {}, map('a'), map('b'), map('a', 2000, 'x'), { ...map('a'), ...map('b', 300) }]
  for (const [name, states] of [['ownerReferences', lists], ['labels', maps]] as const) {
    for (const [from, before] of states.entries()) {
      for (const [to, after] of states.entries()) {
        const [older, newer] = [before, after].map(value => ({
          metadata: { name: 'x', ...(value === undefined ? {} : { [name]: structuredClone(value) }) }
        })) as [object, object]
        const comparison = comparing(owned, older, newer)
        let [steps, made] = [0, undefined as Changes | undefined]
        for (; made === undefined; steps++) {
          const { done, value } = comparison.next()
          if (done === true) made = value
        }
        const [what, whole] = [`${name} ${from} to ${to}`, compare(owned, older, newer)]
        if (JSON.stringify(made) !== JSON.stringify(whole)) t.same(made, whole, what)
        if (size(made.changed) + size(made.removed) > 2000) t.ok(steps > 4, `${what}: ${steps} steps`)
      }
    }
  }
})

t.test('elements of one plain text sort as others do', async t => {
  for (const elements of [
    ['k:{"uid":"b"}', 'k:{"uid":"a-"}', 'k:{"uid":"a"}', 'k:{"uid":"ab"}', 'k:{"uid":""}', 'k:{"uid":"a#"}'],
    ['v:"b"', 'v:"a/b"', 'v:"a"', 'v:"B"'],
    ['v:"a b"', 'v:"a"', 'v:"a!"']
  ]) {
    const sorted = sortElements(elements)
    t.same(sortElements([...elements, 'i:0']), [...sorted, 'i:0'])
  }
})
