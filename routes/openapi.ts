/**
 * OpenAPI: `/openapi/v2` is one document; `/openapi/v3` lists the document of each group version under an address with
 * its hash, so that clients can cache it. Those of extension servers are merged and listed. Documents are JSON, or the
 * protobuf form that upstream clients prefer.
 */
import type { DocumentAnswer, RelayedAnswer } from '../answers/answer.js'
import type { ServedRequest } from '../answers/request-context.js'
import { answered } from '../answers/send.js'
import { viewOf, type View } from '../answers/view.js'
import { JSON_TYPE } from '../schemas/media-types.js'
import { noSuchPath, notAcceptable } from '../schemas/status.js'
import { discoveryPaths } from './issuer-discovery.js'
import type { RoutedServer } from './needs.js'
import { addressOf, Generation, renamed, type Format, type Kept, type RemoteDocuments } from './openapi-documents.js'

/** Newer clients request both spellings but accept only this one as Content-Type. */
const PROTOBUF_V2 = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf'
const V2_FORMATS: ReadonlyMap<string, Format> = new Map([
  [PROTOBUF_V2, 'protobuf'], ['application/com.github.proto-openapi.spec.v2@v1.0+protobuf', 'protobuf'],
  [JSON_TYPE, 'json']
])
const PROTOBUF_V3 = 'application/com.github.proto-openapi.spec.v3.v1.0+protobuf'
const V3_FORMATS: ReadonlyMap<string, Format> = new Map([
  [JSON_TYPE, 'json'], [PROTOBUF_V3, 'protobuf'],
  ['application/com.github.proto-openapi.spec.v3@v1.0+protobuf', 'protobuf']
])
const YEAR_SECONDS = 365 * 24 * 60 * 60

function formatOf (request: ServedRequest, formats: ReadonlyMap<string, Format>): Format {
  const header = request.headers.accept ?? ''
  if (header.trim() === '') return 'json'
  for (const clause of header.split(',')) {
    const type = (clause.split(';', 1)[0] ?? '').trim().toLowerCase()
    const format = type === '*/*' || type === 'application/*' ? 'json' : formats.get(type)
    if (format !== undefined) return format
  }
  throw notAcceptable([...formats.keys()])
}

/** @returns what makes the documents of the types of that moment */
function generations (fastify: RoutedServer): (request: ServedRequest) => Promise<Generation> {
  const {
    orchClock: clock, orchResources: resources, orchAggregation: aggregation, orchSettings: { featureGates: gates },
    orchAuthentication: { tokens: serviceAccountTokens }
  } = fastify
  let generation = -1
  let remote: RemoteDocuments | undefined
  const current = new Map<View, Generation>()
  const before = new Map<View, Kept>()
  const settings = { issuer: discoveryPaths(serviceAccountTokens.issuer).length > 0, gates }
  return async ({ orch }) => {
    const view = viewOf(orch)
    const documents = await aggregation.documents()
    if (generation !== resources.generation || remote !== documents) {
      generation = resources.generation
      remote = documents
      for (const [view, generated] of current) before.set(view, generated.kept())
      current.clear()
    }
    let generated = current.get(view)
    if (generated === undefined) {
      current.set(view, generated = new Generation({
        resources: resources.served()
          .map(store => ({ ...store.representation, subresources: resources.subresourcesOf(store) })),
        served: settings, remote: documents, view, clock, before: before.get(view)
      }))
    }
    return generated
  }
}

export default async function openapi (fastify: RoutedServer): Promise<void> {
  const { orchClock: clock, orchAggregation: aggregation, orchSettings: { featureGates: gates } } = fastify
  const currentGeneration = generations(fastify)
  const get = (url: string, answer: (request: ServedRequest) => Promise<DocumentAnswer | RelayedAnswer>): void => {
    fastify.route({ method: 'GET', url, exposeHeadRoute: false, handler: answered(answer) })
  }

  get('/openapi/v2', async request => {
    const format = formatOf(request, V2_FORMATS)
    const document = await (await currentGeneration(request)).v2(format)
    return await document.answer(request, format === 'json' ? JSON_TYPE : PROTOBUF_V2)
  })
  if (!gates.enabled('OpenAPIV3')) return
  get('/openapi/v3', async request => {
    const document = await (await currentGeneration(request)).index()
    return await document.answer(request, JSON_TYPE)
  })
  get('/openapi/v3/*', async request => {
    const name = (request.params as { '*': string })['*']
    const generated = await currentGeneration(request)
    const own = renamed(name, viewOf(request.orch))
    const document = await generated.v3(own)
    if (document === undefined) {
      const service = aggregation.find(`/${name}`)
      if (service === undefined) throw noSuchPath()
      return await aggregation.proxy(service, request)
    }
    const format = formatOf(request, V3_FORMATS)
    const hash = request.orch.query.get('hash')
    if (hash !== null && hash !== document.hash) {
      const location = `${fastify.prefix}${addressOf(name, document.hash)}`
      return { kind: 'document', code: 301, headers: { location }, bytes: undefined }
    }
    const answer = format === 'json'
      ? await document.answer(request, JSON_TYPE)
      : await (await generated.v3Protobuf(own, document)).answer(request, PROTOBUF_V3)
    if (hash === null) return answer
    const expires = new Date(clock.wall() + YEAR_SECONDS * 1000).toUTCString()
    return { ...answer, headers: { 'cache-control': 'public, immutable', expires, ...answer.headers } }
  })
}
