import t from 'tap'
import { fromJson } from '../../../expressions/from-json.js'
import { DYN } from '../../../expressions/types.js'
import { isDict, Items, type Value } from '../../../expressions/values.js'
import { toJson } from '../../../schemas/codec/json/encode.js'
import { parseLong } from '../../../schemas/codec/json/exact.js'
import { celValueOf } from '../../../schemas/language/cel-values.js'
import { decode } from '../../../schemas/language/decode.js'
import { applyDefaults } from '../../../schemas/language/defaults.js'
import { sampleOf } from '../../samples.js'
import { creation, stored, title } from '../../conformance/collections.js'

/** Everything that expressions can see of a value, in order. */
function seen (value: Value): unknown {
  if (value instanceof Items) return [...value].map(seen)
  if (typeof value === 'object' && value !== null && isDict(value)) {
    return ['dict', value.size, ...value.keys().map(key => [key, seen(value.get(key) ?? null)])]
  }
  return value
}

t.test('expressions see of an object what they see of its JSON', async t => {
  for (const one of stored) {
    const { message, conversion } = one
    const body = { ...sampleOf(one), ...creation(one).body, apiVersion: '', kind: '' }
    const { object } = decode(one.type.stored.message, body)
    for (const complete of [false, true]) {
      if (complete) applyDefaults(one.type.stored.message, object)
      const shown = conversion?.fromStored(object) ?? object
      t.strictSame(seen(celValueOf(message, shown)), seen(fromJson(parseLong(toJson(message, shown)), DYN)), title(one))
    }
  }
})
