/**
 * OpenID Connect discovery for service account tokens: the issuer and the keys that verify its tokens. Served only if
 * the issuer is an https URL, as the protocol requires.
 *
 * @see interface, 'Health endpoints' 6; --service-account-issuer, --service-account-jwks-uri
 */
import type { JsonWebKey } from '../auth/service-account-tokens.js'
import { JSON_TYPE } from '../schemas/media-types.js'
import { CachedDocument } from './cached-document.js'
import { withSlash } from './with-slash.js'
import type { DocumentAnswer } from '../answers/answer.js'
import { answered } from '../answers/send.js'
import type { RoutedServer } from './needs.js'

const CONFIGURATION = '/.well-known/openid-configuration'
const KEYS = '/openid/v1/jwks'
const KEYS_TYPE = 'application/jwk-set+json'
/** Seconds for which keys that stay may be kept. */
const AN_HOUR = 3600

/** The discovery paths of an issuer; none if it cannot be discovered. */
export const discoveryPaths = (issuer: string): string[] =>
  URL.canParse(issuer) && new URL(issuer).protocol === 'https:' ? [CONFIGURATION, KEYS] : []

export default async function issuerDiscovery (fastify: RoutedServer): Promise<void> {
  const { orchSettings: settings, orchAuthentication: { tokens: { issuer, keys, keysMaxAge, keysUri } } } = fastify
  if (discoveryPaths(issuer).length === 0) return
  const address = addressOf(settings.externalHostname, settings.advertiseAddress)
  const serve = (url: string, type: string, valueOf: (keys: readonly JsonWebKey[]) => object): void => {
    let cached: { readonly keys: readonly JsonWebKey[], readonly document: CachedDocument } | undefined
    const document = (): CachedDocument => {
      const now = keys()
      if (cached?.keys !== now) cached = { keys: now, document: new CachedDocument(jsonOf(valueOf(now))) }
      return cached.document
    }
    const handler = answered(async (request): Promise<DocumentAnswer> => {
      const answer = await document().answer(request, type)
      const caching = { 'cache-control': `public, max-age=${keysMaxAge?.() ?? AN_HOUR}` }
      return { ...answer, headers: { ...caching, ...answer.headers } }
    })
    for (const path of withSlash(fastify, url)) {
      fastify.route({ method: 'GET', url: path, exposeHeadRoute: false, handler })
    }
  }
  serve(CONFIGURATION, JSON_TYPE, keys => ({
    issuer,
    jwks_uri: keysUri ?? (address === undefined
      ? `${issuer.replace(/\/$/, '')}${KEYS}`
      : `https://${address}${fastify.prefix}${KEYS}`),
    response_types_supported: ['id_token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: [...new Set(keys.map(({ alg }) => alg))].sort()
  }))
  serve(KEYS, KEYS_TYPE, keys => ({ keys }))
}

const jsonOf = (value: object): Buffer => Buffer.from(JSON.stringify(value))

/** `host:port`; a hostname without a port gets that of the advertised address. */
function addressOf (hostname: string | undefined, advertised: string | undefined): string | undefined {
  if (hostname === undefined || /:\d+$/.test(hostname.replace(/^\[.*\]/, ''))) return hostname ?? advertised
  const port = /:(\d+)$/.exec(advertised ?? '')?.[1]
  return port === undefined ? hostname : `${hostname}:${port}`
}
