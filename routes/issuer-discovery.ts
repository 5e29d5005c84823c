/**
 * Who issues tokens of service accounts and by which keys they are verified, for others that are to accept them: OpenID
 * Connect discovery. Only where the issuer is an https URL, as there is nothing to discover otherwise.
 *
 * @see interface, 'Health endpoints' 6; --service-account-issuer, --service-account-jwks-uri
 */
import type { FastifyInstance } from 'fastify'
import { JSON_TYPE } from '../schemas/media-types.js'
import { CachedDocument } from './cached-document.js'
import { withSlash } from './with-slash.js'

const CONFIGURATION = '/.well-known/openid-configuration'
const KEYS = '/openid/v1/jwks'
const KEYS_TYPE = 'application/jwk-set+json'
const CACHEABLE = { 'cache-control': 'public, max-age=3600' }

/** What there is of an issuer. */
export const discoveryPaths = (issuer: string): string[] => URL.canParse(issuer) && new URL(issuer).protocol === 'https:' ? [CONFIGURATION, KEYS] : []

export default async function issuerDiscovery (fastify: FastifyInstance): Promise<void> {
  const { serviceAccountTokens: { issuer, keys, keysUri }, settings } = fastify.orch
  if (discoveryPaths(issuer).length === 0) return
  const address = addressOf(settings.externalHostname, settings.advertiseAddress)
  const serve = (url: string, type: string, value: object): void => {
    const document = new CachedDocument(Buffer.from(JSON.stringify(value)))
    for (const path of withSlash(fastify, url)) {
      fastify.route({ method: 'GET', url: path, exposeHeadRoute: false, handler: (request, reply) => document.send(request, reply.headers(CACHEABLE), type) })
    }
  }
  serve(CONFIGURATION, JSON_TYPE, {
    issuer,
    jwks_uri: keysUri ?? (address === undefined ? `${issuer.replace(/\/$/, '')}${KEYS}` : `https://${address}${fastify.prefix}${KEYS}`),
    response_types_supported: ['id_token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: [...new Set(keys.map(({ alg }) => alg))].sort()
  })
  serve(KEYS, KEYS_TYPE, { keys })
}

/** `host:port`; a name without a port is on that of the address. */
function addressOf (hostname: string | undefined, advertised: string | undefined): string | undefined {
  if (hostname === undefined || /:\d+$/.test(hostname.replace(/^\[.*\]/, ''))) return hostname ?? advertised
  const port = /:(\d+)$/.exec(advertised ?? '')?.[1]
  return port === undefined ? hostname : `${hostname}:${port}`
}
