import t from 'tap'
import { toJson } from '../../../schemas/codec/json/encode.js'
import { parseExactly } from '../../../schemas/codec/json/exact.js'
import { renamedJson } from '../../../schemas/codec/json/rename.js'
import { encodeMessage } from '../../../schemas/codec/protobuf/encode.js'
import { transcodeOnce } from '../../../schemas/codec/protobuf/transcode.js'
import { translateValues } from '../../../schemas/compat/objects.js'
import { publicRenaming } from '../../../schemas/compat/renaming.js'
import { Facts } from '../../../schemas/language/types.js'
import { representations } from '../../../schemas/resources.js'
import { findResource } from '../find-resource.js'
import type { ApiObject } from '../../../schemas/meta/api-object.js'
import type { Representation } from '../../../schemas/resource.js'
import { RandomObjects } from '../../random-object.js'

const EACH = 12
const random = new RandomObjects(7)

for (const { message, plural, apiVersion } of representations) {
  t.test(`stored ${plural} of ${apiVersion} become what their objects become`, async t => {
    for (let at = 0; at < EACH; at++) {
      const json = Buffer.from(`${toJson(message, random.of(message) as unknown as ApiObject)}\n`)
      const read = (): ApiObject => parseExactly(json) as ApiObject
      t.same(
        parseExactly(renamedJson(json, publicRenaming(message))), translateValues(message, read()),
        'JSON under public names'
      )
      if (!message[Facts].protobuf) continue
      const own = encodeMessage(message, read())
      if (!transcodeOnce(message, json).equals(own)) {
        t.equal(transcodeOnce(message, json).toString('latin1'), own.toString('latin1'), json.toString())
      }
      const named = encodeMessage(message, translateValues(message, read()))
      const made = transcodeOnce(message, json, publicRenaming(message))
      if (!made.equals(named)) t.equal(made.toString('latin1'), named.toString('latin1'), json.toString())
    }
  })
}

t.test('a schema may have a property that is called as field sets are', async t => {
  const { message } = findResource('apiextensions.orch.io', 'v1', 'customresourcedefinitions') as Representation
  const properties = {
    fieldsV1: { type: 'object', properties: { a: { type: 'string', pattern: '^orch' } } }, b: { type: 'integer' }
  }
  const versions = [
    { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object', properties } } }
  ]
  const json = Buffer.from(
    `${toJson(message, { metadata: {}, spec: { group: 'g', versions } } as unknown as ApiObject)}\n`
  )
  t.ok(transcodeOnce(message, json).equals(encodeMessage(message, parseExactly(json) as ApiObject)))
})
