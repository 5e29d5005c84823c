/** `/openapi/v2`: the document of what is served, in JSON or in the protobuf form stock clients ask for. Made when first asked. */
import { createHash } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { packageVersion } from '../release.js'
import { JSON_TYPE } from '../schemas/media-types.js'
import { notAcceptable } from '../schemas/status.js'
import { sendBytes } from './stream.js'

/** Newer clients parse the type of the answer strictly and refuse the older spelling in it, which they still ask with. */
const PROTOBUF_TYPE = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf'
const PROTOBUF_NAMES = new Set([PROTOBUF_TYPE, 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf'])

interface Document { readonly bytes: Buffer, readonly etag: string }

function wanted (header: string | undefined): 'json' | 'protobuf' | undefined {
  if (header === undefined || header.trim() === '') return 'json'
  const types = header.split(',').map(clause => (clause.split(';', 1)[0] ?? '').trim().toLowerCase())
  for (const type of types) {
    if (PROTOBUF_NAMES.has(type)) return 'protobuf'
    if (type === JSON_TYPE || type === '*/*' || type === 'application/*') return 'json'
  }
  return undefined
}

export default async function openapi (fastify: FastifyInstance): Promise<void> {
  const made = new Map<string, Promise<Document>>()
  const make = async (format: 'json' | 'protobuf'): Promise<Document> => {
    const { openapiV2, openapiV2Protobuf } = await import('../schemas/openapi/v2.js')
    const definitions = fastify.orch.resources.served().map(({ definition }) => definition)
    const document = openapiV2(definitions, { title: 'orch', version: `v${packageVersion()}` })
    const bytes = format === 'json' ? Buffer.from(JSON.stringify(document)) : openapiV2Protobuf(document)
    return { bytes, etag: `"${createHash('sha256').update(bytes).digest('hex').toUpperCase()}"` }
  }

  fastify.route({
    method: 'GET',
    url: '/openapi/v2',
    exposeHeadRoute: false,
    handler: async (request, reply) => {
      const format = wanted(request.headers.accept)
      if (format === undefined) throw notAcceptable([JSON_TYPE, PROTOBUF_TYPE])
      let document = made.get(format)
      if (document === undefined) made.set(format, document = make(format))
      const { bytes, etag } = await document
      reply.header('etag', etag).header('vary', 'accept')
      if (request.headers['if-none-match'] === etag) return await reply.code(304).send()
      return await sendBytes(request, reply, format === 'json' ? JSON_TYPE : PROTOBUF_TYPE, bytes)
    }
  })
}
