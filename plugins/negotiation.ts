/**
 * Evaluates the Accept header before any work is done: a response that the client cannot read fails early with 406.
 * (Interface: Generic request shapes 4.)
 */
import { served, type Negotiated } from '../answers/request-context.js'
import type { RequestInfo } from '../auth/request-info.js'
import { JSON_TYPE, YAML_TYPE } from '../schemas/media-types.js'
import { notAcceptable } from '../schemas/status.js'
import { negotiate, MEDIA_TYPES, isPretty, type Available } from './shared/accept.js'
import { acceptOf } from './shared/client-names.js'
import { isConnection } from './shared/request-kinds.js'
import { plugin } from './shared/plugin.js'
import { later } from './shared/server.js'

const ANSWER: Available = { protobuf: true, watch: false, transforms: true }
const OBJECT: Available = { ...ANSWER, unfit: 'PartialObjectMetadataList' }
const LIST: Available = { ...ANSWER, unfit: 'PartialObjectMetadata' }
const STREAM: Available = { ...ANSWER, watch: true }
const BY_VERB: Readonly<Record<string, Available>> = { list: LIST, watch: STREAM, deletecollection: ANSWER }
/** Types defined at run time have no protobuf form. */
const TEXTS = new Map<Available, Available>(
  [ANSWER, OBJECT, LIST, STREAM].map(available => [available, { ...available, protobuf: false }]))
/** Virtual types, which have no Table form. */
const OPERATION: Available = { ...OBJECT, transforms: 'metadata' }
const DOCUMENT: Available = { protobuf: false, watch: false, transforms: false }
/** `/api` and `/apis`. */
const DISCOVERY: Available = { ...DOCUMENT, discovery: true }
const FRONT_PAGE: Available = { ...DOCUMENT, html: true }
const DOCUMENT_TYPES = [JSON_TYPE, YAML_TYPE]
const DOCUMENT_PATH = /^\/(?:$|version\/?$|apis?(?:\/|$))/
const DISCOVERY_PATH = /^\/apis?\/?$/

const MAX_CACHED = 100

/** Browsers show JSON as it is sent. */
const isBrowser = (accept = ''): boolean => accept.includes('text/html')

export default plugin()(async fastify => {
  // Clients repeat a few headers; results are cached, up to a limit.
  const cache = new Map<Available, [plain: Map<string, Negotiated | null>, pretty: Map<string, Negotiated | null>]>(
    [ANSWER, OBJECT, LIST, STREAM, ...TEXTS.values(), OPERATION, DOCUMENT, DISCOVERY, FRONT_PAGE]
      .map(available => [available, [new Map(), new Map()]]))
  const choose = (header: string | undefined, available: Available, pretty: boolean): Negotiated | undefined => {
    const all = cache.get(available)?.[pretty ? 1 : 0]
    const earlier = all?.get(header ?? '')
    if (earlier !== undefined) return earlier ?? undefined
    const choice = negotiate(header, available)
    const negotiated = choice === undefined || !pretty ? choice : { ...choice, pretty: true }
    if (all !== undefined && all.size < MAX_CACHED && (header ?? '').length < 1000) {
      all.set(header ?? '', negotiated ?? null)
    }
    return negotiated
  }

  const { orchResources: resources } = fastify
  const aggregation = later(fastify, 'orchAggregation')
  const isOperation = (info: RequestInfo): boolean => {
    const store = resources.lookup(info)
    return store !== undefined && resources.operation(store.type, info.subresource) !== undefined
  }

  fastify.addHook('onRequest', (request, _reply, done) => {
    const { orch } = served(request)
    const { info, query } = orch
    const header = acceptOf(request)
    const available = info.isResourceRequest
      ? BY_VERB[info.verb] ?? OBJECT
      : info.path === '/' && (info.verb === 'get' || info.verb === 'head')
        ? FRONT_PAGE
        : DISCOVERY_PATH.test(info.path)
          ? DISCOVERY
          : DOCUMENT_PATH.test(info.path) ? DOCUMENT : undefined
    if (available === undefined) return done()
    const given = query.size === 0 ? null : query.get('pretty')
    const pretty = given === null ? available !== STREAM && isBrowser(request.headers.accept) : isPretty(given)
    let accept = choose(header, available, pretty)
    // Look up the resource only if the response would be protobuf.
    const textOnly = accept?.format === 'protobuf' && accept.as === undefined &&
      resources.lookup(info)?.representation.protobuf === false
    if (accept?.as === 'Table' && isOperation(info)) accept = choose(header, OPERATION, pretty)
    if (textOnly) accept = choose(header, TEXTS.get(available) ?? available, pretty)
    // The pod, node or extension server chooses the format of a proxied response.
    if (accept === undefined && !isConnection(info) && aggregation()?.find(info.path) === undefined) {
      return done(notAcceptable(available.protobuf && !textOnly ? MEDIA_TYPES : DOCUMENT_TYPES))
    }
    orch.accept = accept
    done()
  })
}, {
  name: 'orch/negotiation',
  fastify: '5.x',
  dependencies: ['orch/authorization'],
  decorators: { fastify: ['orchResources'], request: ['orch'] }
})
