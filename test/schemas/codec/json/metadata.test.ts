/** Metadata is found in JSON by its signs, so here are objects that look alike elsewhere. */
import t, { type Test } from 'tap'
import { metadataIn, withoutManagers } from '../../../../schemas/codec/json/metadata.js'
import { random } from '../../../random.js'

/** Keys and texts with what ends lists and objects. */
const HOSTILE = [
  ']},', ']},"a', '}]},"spec":{', '[', '"managedFields":[', '\\', '"', ':', 'f:]},', '"metadata":{', 'é]}'
]
const managersOf = (keys: readonly string[]): object[] => [
  {
    manager: keys[0] ?? 'one',
    operation: 'Update',
    fieldsType: 'FieldsV1',
    fieldsV1: Object.fromEntries(keys.map(key => [`f:${key}`, { '.': {} }]))
  },
  { manager: 'two', fieldsV1: { 'f:status': {} }, subresource: 'status' }
]

function check (t: Test, object: { metadata?: Record<string, unknown> }, what: string): void {
  const json = Buffer.from(`${JSON.stringify(object)}\n`)
  const { metadata } = object
  t.same(JSON.parse(metadataIn(json).toString()), metadata ?? {}, `metadata of ${what}`)
  const { managedFields: _, ...rest } = metadata ?? {}
  t.same(
    JSON.parse(withoutManagers(json).toString()), { ...object, ...metadata === undefined ? {} : { metadata: rest } },
    `managers of ${what}`
  )
}

t.test('metadata ends where it does, whatever is in its managers and behind them', async t => {
  const template = { template: { metadata: { managedFields: managersOf(['x']) } } }
  check(t, { kind: 'X' } as object, 'none')
  check(t, { metadata: {} }, 'empty metadata')
  check(t, { metadata: { managedFields: managersOf([]) } }, 'nothing but managers')
  check(t, { metadata: { name: 'a', managedFields: [] }, spec: {} } as object, 'no manager')
  check(t, { metadata: { name: 'a' }, spec: template } as object, 'managers of a template alone')
  for (const keys of [...HOSTILE.map(key => [key]), HOSTILE]) {
    const metadata = {
      name: 'a',
      annotations: Object.fromEntries(keys.map(key => [key, key])),
      ownerReferences: [{ name: keys[0] }],
      managedFields: managersOf(keys)
    }
    for (const next of ['spec', ':x', '', ']}', 'é']) {
      check(t, { metadata, [next]: template } as object, JSON.stringify([next, ...keys]))
    }
    check(
      t,
      {
        metadata: { ...metadata, managedFields: [{ fieldsV1: { 'f:a': [{ 'f:b': [1] }], 'f:c': {} } }] }, spec: template
      } as object,
      `lists in sets, ${JSON.stringify(keys)}`
    )
    check(
      t,
      {
        metadata: { ...metadata, managedFields: [{ fieldsV1: { 'f:a': { 'f:b': [1] }, 'f:c': {} } }] }, spec: template
      } as object,
      `a list at the end in sets, ${JSON.stringify(keys)}`
    )
  }
})

t.test('so it is in objects of any keys', async t => {
  const { int, seed } = random()
  for (let round = 0; round < 300; round++) {
    const text = (): string => HOSTILE.filter(() => int(4) === 0).join('')
    check(
      t,
      {
        metadata: { [`a${text()}`]: text(), managedFields: managersOf([text(), text()]) },
        [text()]: text(),
        spec: { [text()]: [text()] }
      } as object,
      `seed ${seed}, round ${round}`
    )
  }
})
