/** Values of selectable fields are those that each version shows, whatever form is stored. */
import t from 'tap'
import { customResources } from '../../../schemas/custom/resource.js'
import { CustomResourceDefinition } from '../../../schemas/api/apiextensions/customresourcedefinitions.js'
import { featureGates } from '../../../schemas/gates.js'
import { applyDefaults } from '../../../schemas/language/defaults.js'
import { decode } from '../../../schemas/language/decode.js'
import { valueAt } from '../../../schemas/language/values.js'
import { fieldValues, placeOf } from '../../../schemas/selectors/fields.js'
import type { Json } from '../../build.js'

const SCALARS: readonly Json[] = [
  { type: 'string' }, { type: 'string', default: 'x' }, { type: 'string', nullable: true },
  { type: 'string', nullable: true, default: 'x' }, { type: 'integer', default: 3 }, { type: 'boolean' }
]
const HOLDERS: readonly Json[] = [
  {}, { default: {} }, { nullable: true }, { nullable: true, default: {} }, { default: { a: 'y' } }
]
const NOTHING = Symbol('nothing')
const VALUES: readonly unknown[] = [NOTHING, null, 'x', 'blue', 0, 7, true, false, { b: 1 }]

const schema = (holder: Json, scalar: Json): Json => ({
  type: 'object', properties: { spec: { type: 'object', ...holder, properties: { a: scalar } } }
})
const holding = (spec: unknown): Json => spec === NOTHING ? {} : { spec }

t.test('a field has the value that its version shows', async t => {
  const gates = featureGates({}, { release: '1.36' })
  const wrong: unknown[] = []
  const versions = HOLDERS.flatMap(holder => SCALARS.map(scalar => schema(holder, scalar)))
  for (const first of versions) {
    for (const second of versions) {
      const version = (name: string, openAPIV3Schema: Json): Json => ({
        name,
        served: true,
        storage: name === 'v1',
        schema: { openAPIV3Schema },
        selectableFields: [{ jsonPath: '.spec.a' }]
      })
      const { object } = decode(CustomResourceDefinition, {
        metadata: { name: 'things.example.com' },
        spec: {
          group: 'example.com',
          scope: 'Namespaced',
          names: { plural: 'things', kind: 'Thing' },
          versions: [version('v1', first), version('v2', second)]
        }
      })
      const [type] = customResources(object, gates)
      if (type === undefined) throw new TypeError('no type')
      for (const spec of [NOTHING, null, {}, ...VALUES.map(a => a === NOTHING ? {} : { a })]) {
        const { object: stored } = decode(type.stored.message, { metadata: { name: 'a' }, ...holding(spec) })
        applyDefaults(type.stored.message, stored)
        const values = fieldValues(type.stored, stored)
        for (const representation of type.representations) {
          const shown = valueAt(representation.conversion?.fromStored(stored) ?? stored, 'spec.a')
          const text = typeof shown === 'object' || shown === undefined ? '' : String(shown)
          const value = values[placeOf('spec.a', representation)]
          if (value !== text) wrong.push({ first, second, spec, version: representation.version, value, text })
        }
      }
    }
  }
  t.same(wrong.slice(0, 3), [])
})
