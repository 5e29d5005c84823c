/** Types without a group: the protobuf envelope, and objects embedded in others. */
import { inline, bytes, string, apiPackage, type Static } from '../language/declare.js'
import { jsonValue } from './scalars.js'

const { message, special } = apiPackage('', '', 'io.orch.apimachinery.pkg.runtime', { name: 'runtime' })

export type TypeMeta = Static<typeof TypeMeta>
export const TypeMeta = message('TypeMeta', 'What an envelope holds.', {
  apiVersion: string(1, 'Group and version of the object.'),
  kind: string(2, 'Kind of the object.')
})

export const Unknown = message('Unknown', 'The envelope around an object in protobuf.', {
  typeMeta: inline(1, 'What the object is.', TypeMeta),
  raw: bytes(2, 'The object, encoded.', { required: true }),
  contentEncoding: string(3, 'How raw is compressed; empty when it is not.', { required: true, mayBeEmpty: true }),
  contentType: string(4, 'Media type of raw; empty for protobuf.', { required: true, mayBeEmpty: true })
})

export const RawExtension = special<unknown>('RawExtension', 'An object of any kind, as it is.', {
  raw: bytes(1, 'The object, encoded.')
}, jsonValue({ type: 'object' }))
