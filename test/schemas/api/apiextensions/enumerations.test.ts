import t from 'tap'
import type { JSONSchemaProps } from '../../../../schemas/api/apiextensions/schemas.js'
import { ValueValidator } from '../../../../schemas/api/apiextensions/schema-values.js'

const found = (list: unknown[], value: unknown): number => {
  let count = 0
  new ValueValidator({ of: () => { throw new RangeError('there is no pattern') } }, true).validate(
    { enum: list } as JSONSchemaProps, value, '', () => { count++ }
  )
  return count
}

t.test('an enumeration names values of its own types, and null never', async t => {
  const list = ['a', '', 1, true, { a: [1] }, null]
  for (const value of ['a', '', 1, true, { a: [1] }]) t.equal(found(list, value), 0, JSON.stringify(value))
  for (const value of ['b', '1', 2, false, { a: [2] }, [], {}, null]) {
    t.equal(found(list, value), 1, JSON.stringify(value))
  }
})

t.test('the texts of an enumeration are read once, however many values are compared with it', async t => {
  let read = 0
  const list = new Proxy(
    Array.from({ length: 1000 }, (_, at) => `e${at}`),
    { get: (target, name) => { if (name !== 'length') read++; return Reflect.get(target, name) as unknown } }
  )
  found(list, 'e999')
  const first = read
  for (let round = 0; round < 5; round++) t.equal(found(list, 'e999'), 0)
  t.equal(read, first)
})
