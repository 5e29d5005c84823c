/**
 * First step of `npm run build`: generates modules for our .proto files with protobufjs' code generator. Its own
 * command needs 60 more packages and generates other class names. Modules are written to `dist/`; their types are
 * declared beside the .proto files. Messages are objects with camel-case fields; missing fields are not written, and
 * read messages have all fields. A field with the option `lazy` is the bytes of its message. Bytes are views of the
 * input. An int64 is a number; beyond 2^53 it is a RangeError.
 */
import './node-version.js'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const { default: protobuf } = await import('protobufjs').catch(error => {
  if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error
  console.error('the packages are not installed yet: run npm ci first')
  process.exit(1)
})

const root = fileURLToPath(new URL('../', import.meta.url))

/** Source of a field's default. */
const missing = field => field.repeated
  ? 'EMPTY_LIST'
  : field.type === 'bytes'
    ? 'EMPTY'
    : JSON.stringify(field.resolvedType instanceof protobuf.Type ? null : field.long ? 0 : field.typeDefault)

const messagesOf = parent => parent.nestedArray.flatMap(each =>
  [...each instanceof protobuf.Type ? [each] : [], ...each.nestedArray === undefined ? [] : messagesOf(each)])

/** @param file with messages of one package */
function moduleOf (file) {
  const all = new protobuf.Root().loadSync(join(root, file))
  // A message field and a bytes field have the same encoding.
  for (const { fieldsArray } of messagesOf(all)) {
    for (const field of fieldsArray) if (field.getOption('lazy') === true) field.type = 'bytes'
  }
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

for (const file of [
  'clients/egress/konnectivity.proto', 'storage/etcd/messages.proto', 'storage/encryption/key-service.proto',
  'storage/encryption/key-service-v2.proto', 'plugins/authentication/service-account/external-signer.proto',
  'schemas/openapi/v2.proto', 'schemas/openapi/v3.proto'
]) {
  const to = join(root, 'dist', `${file}.js`)
  mkdirSync(dirname(to), { recursive: true })
  writeFileSync(to, moduleOf(file))
}
