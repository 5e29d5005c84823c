/**
 * What they send and what they accept. Accept is read before any work is done, so that an answer nobody
 * can read is refused with 406 first; the body is taken as bytes whatever its type, because the decoders
 * are in schemas/ and the verbs know which types they take. (Interface: Generic request shapes 3 and 4.)
 */
import fp from 'fastify-plugin'
import { JSON_TYPE, YAML_TYPE } from '../schemas/media-types.js'
import { badRequest, notAcceptable } from '../schemas/status.js'
import { MEDIA_TYPES, negotiate, truthy } from './accept.js'
import type { Offer } from './accept.js'
import type { Negotiated } from './context.js'

const OBJECT: Offer = { protobuf: true, watch: false, transforms: true }
const STREAM: Offer = { protobuf: true, watch: true, transforms: true }
const DOCUMENT: Offer = { protobuf: false, watch: false, transforms: false }
const DOCUMENT_TYPES = [JSON_TYPE, YAML_TYPE]
const DISCOVERY_PATH = /^\/(?:$|version\/?$|apis?(?:\/|$))/
const PRETTY = /^(?:|0|1|true|false)$/i

const MOST_REMEMBERED = 100

export default fp(async fastify => {
  // The decoders need the bytes as they came, whatever the Content-Type says or lacks.
  fastify.removeAllContentTypeParsers()
  fastify.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: 3 * 1024 * 1024 }, (_request, body, done) => { done(null, body) })

  // Clients send the same few headers over and over; the answers are remembered, up to a bound.
  const remembered = new Map<Offer, [plain: Map<string, Negotiated | null>, pretty: Map<string, Negotiated | null>]>(
    [OBJECT, STREAM, DOCUMENT].map(offer => [offer, [new Map(), new Map()]]))
  const choose = (header: string | undefined, offer: Offer, pretty: boolean): Negotiated | undefined => {
    const all = remembered.get(offer)?.[pretty ? 1 : 0]
    const known = all?.get(header ?? '')
    if (known !== undefined) return known ?? undefined
    const found = negotiate(header, offer)
    const made = found === undefined || !pretty ? found : { ...found, pretty: true }
    if (all !== undefined && all.size < MOST_REMEMBERED && (header ?? '').length < 1000) all.set(header ?? '', made ?? null)
    return made
  }

  fastify.addHook('onRequest', (request, _reply, done) => {
    const { info, query } = request.orch
    const offer = info.isResourceRequest ? info.verb === 'watch' ? STREAM : OBJECT : DISCOVERY_PATH.test(info.path) ? DOCUMENT : undefined
    if (offer === undefined) return done()
    const pretty = query.size === 0 ? null : query.get('pretty')
    if (pretty !== null && !PRETTY.test(pretty)) return done(badRequest(`pretty: invalid value ${JSON.stringify(pretty.slice(0, 100))}: it must be true or false`))
    const accept = choose(request.headers.accept, offer, truthy(pretty))
    if (accept === undefined) return done(notAcceptable(offer.protobuf ? MEDIA_TYPES : DOCUMENT_TYPES))
    request.orch.accept = accept
    done()
  })
}, { name: 'orch/negotiation', fastify: '5.x', dependencies: ['orch/request-info', 'orch/authorization'] })
