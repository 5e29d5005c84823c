import t from 'tap'
import { fromStructural } from '../../../schemas/custom/declaration.js'
import { compare } from '../../../registry/apply/compare.js'
import { pathText } from '../../../registry/apply/elements.js'
import { paths } from '../../../registry/apply/field-set.js'
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
    t.same([[...paths(differ.changed)].map(pathText), [...paths(differ.removed)].map(pathText)], [changed, removed], JSON.stringify([before, after]))
  }
})
