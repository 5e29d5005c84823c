/** Large bodies are decoded and objects encoded in steps, to the same. */
import t from 'tap'
import { parseInSteps } from '../../../../schemas/codec/json/parse.js'
import { splitJson, joinJson, toJson } from '../../../../schemas/codec/json/encode.js'
import { decodeProtobuf, protobufInSteps } from '../../../../schemas/codec/protobuf/decode.js'
import { encodeProtobuf } from '../../../../schemas/codec/protobuf/encode.js'
import { findResource } from '../../find-resource.js'
import type { ApiObject } from '../../../../schemas/meta/api-object.js'
import type { Representation } from '../../../../schemas/resource.js'
import type { Steps } from '../../../../schemas/steps.js'

const { message } = findResource('', 'v1', 'configmaps') as Representation
const BOUNDS = { values: Infinity, members: Infinity, entries: Infinity }
const STEP_BYTES = 64 * 1024

const filled = (prefix: string): Record<string, string> => Object.fromEntries(
  Array.from({ length: 4000 }, (_, at) => [`${prefix}${String(at).padStart(5, '0')}`, 'x'.repeat(100)])
)
const object = {
  kind: 'ConfigMap',
  apiVersion: 'v1',
  metadata: { name: 'a', namespace: 'd', resourceVersion: '1', labels: filled('l'), annotations: filled('a') },
  data: filled('d')
} as unknown as ApiObject

function counted<T> (steps: Steps<T>): [T, number] {
  for (let count = 0; ; count++) {
    const { done, value } = steps.next()
    if (done === true) return [value, count]
  }
}

t.test('protobuf', async t => {
  const bytes = encodeProtobuf(message, object)
  const [made, count] = counted(protobufInSteps(message, bytes, BOUNDS))
  t.ok(count >= Math.floor(bytes.length / STEP_BYTES) - 2, `${count} steps`)
  t.equal(toJson(message, made.object as ApiObject), toJson(message, object))
  t.same(made, decodeProtobuf(message, bytes))
})

t.test('JSON is parsed and written', async t => {
  const text = toJson(message, object, '7')
  const [parsed, count] = counted(parseInSteps(Buffer.from(text), BOUNDS))
  t.equal(count, 4, 'decoding, counting, parsing and looking for duplicates are steps of their own')
  t.equal(JSON.stringify(parsed.value), text)
  const [split, parts] = counted(splitJson(message, object))
  t.equal(parts, 4, 'each large member is a step, and the metadata as a whole')
  t.equal(joinJson(split, '7'), text)
})
