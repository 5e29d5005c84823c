/**
 * The first step of `npm run build`: the modules that read and write the messages of our .proto files, made by protobufjs'
 * own code generator. What its command makes needs 60 packages more (protobufjs-cli) and has names of its own for each
 * message. Each module stands in `dist/` beside what imports it; a declaration beside the .proto file says its types.
 *
 * A message is any object with the fields of the file, in camel case; a field that is missing is not written. What is read
 * has every field. A field with the option `lazy` is the bytes of its message. Bytes that are read are views of the received ones. An int64 is a number, and one beyond 2^53 a RangeError.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import protobuf from 'protobufjs'

const root = fileURLToPath(new URL('../', import.meta.url))

/** Source of what a field is where it was not sent. */
const missing = field => field.repeated
  ? 'EMPTY_LIST'
  : field.type === 'bytes' ? 'EMPTY' : JSON.stringify(field.resolvedType instanceof protobuf.Type ? null : field.long ? 0 : field.typeDefault)

const messagesOf = parent => parent.nestedArray.flatMap(each => [...each instanceof protobuf.Type ? [each] : [], ...each.nestedArray === undefined ? [] : messagesOf(each)])

/** @param file with messages of one package */
function moduleOf (file) {
  const all = new protobuf.Root().loadSync(join(root, file))
  // A message and its bytes are the same on the wire.
  for (const { fieldsArray } of messagesOf(all)) for (const field of fieldsArray) if (field.getOption('lazy') === true) field.type = 'bytes'
  const messages = messagesOf(all.resolveAll())
  const classes = messages.map(message => {
    const fields = message.fieldsArray
    const made = code => code.toString('')
      .replaceAll(/types\[(\d+)\]/g, (_, index) => fields[index].resolvedType.name)
      .replaceAll('new this.ctor', `new ${message.name}`)
      .replaceAll('r.int64()', 'numberOf(r.int64())')
    return `
export class ${message.name} {
${fields.map(field => `  ${field.name} = ${missing(field)};\n`).join('')}}
${message.name}.encode = ${made(protobuf.encoder(message))}
${message.name}.decode = ${made(protobuf.decoder(message))}
`
  })
  return `// Made by build/protobuf.js of ${file}.
import protobuf from 'protobufjs/minimal.js'

const { Reader, Writer, util } = protobuf
const EMPTY = Buffer.alloc(0)
const EMPTY_LIST = Object.freeze([])

function numberOf (value) {
  const number = typeof value === 'number' ? value : value.toNumber()
  if (!Number.isSafeInteger(number)) throw new RangeError('an integer beyond 2^53')
  return number
}
${classes.join('')}`
}

for (const file of ['storage/etcd/messages.proto', 'schemas/openapi/v2.proto']) {
  const to = join(root, 'dist', `${file}.js`)
  mkdirSync(dirname(to), { recursive: true })
  writeFileSync(to, moduleOf(file))
}
