/** IntOrString: an integer, or a name or percentage. Represented in memory as in JSON. */
import { int32, int64, string, apiPackage, type Special } from '../language/declare.js'
import { quote } from '../codec/json/escape.js'
import { BYTES, bytesTag, Reader, Scratch, VARINT } from '../codec/protobuf/wire.js'

const { special } = apiPackage('', '', 'io.orch.apimachinery.pkg.util.intstr', { name: 'intstr' })

export type IntOrStringValue = number | string

const MIN = -(2 ** 31)
const MAX = 2 ** 31 - 1

const scratch = new Scratch(64)

const intOrString: Special<IntOrStringValue> = {
  decode: (value, refuse) => {
    if (typeof value === 'string') return value
    return typeof value === 'number' && Number.isInteger(value) && value >= MIN && value <= MAX
      ? value
      : refuse('a string or an integer of 32 bits')
  },
  json: (value = 0) => typeof value === 'string' ? quote(value) : String(value),
  toProtobuf: (value = 0) => {
    const writer = scratch.take()
    writer.string(typeof value === 'string' ? value : '')
    writer.varint(bytesTag(3))
    writer.integer(typeof value === 'string' ? 0 : value)
    writer.varint(2 << 3)
    writer.integer(typeof value === 'string' ? 1 : 0)
    writer.varint(1 << 3)
    return writer.finish()
  },
  fromProtobuf: body => {
    const reader = new Reader(body)
    let isString = false
    let number = 0
    let text = ''
    while (reader.at < reader.end) {
      const tag = reader.varint(reader.end)
      if (tag === (1 << 3 | VARINT)) isString = Number(reader.int64(reader.end)) === 1
      else if (tag === (2 << 3 | VARINT)) number = Number(reader.int64(reader.end)) | 0
      else if (tag === (3 << 3 | BYTES)) text = reader.string(reader.end)
      else reader.skip(tag & 7, reader.end)
    }
    return isString ? text : number
  },
  zero: 0,
  openapi: { type: 'string', format: 'int-or-string' },
  schema: { anyOf: [{ type: 'integer' }, { type: 'string' }] }
}

export const IntOrString = special('IntOrString', 'A whole number, or a name or percentage in its place.', {
  type: int64(1, '0 for a number, 1 for a string.'),
  intVal: int32(2, 'The number.'),
  strVal: string(3, 'The string.')
}, intOrString)
