/** Authentication flags. */
import { oneOf, bool, choice, duration, list, pairs, path, socketPath, text } from '../flag.js'

const HOUR = 3_600_000
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'ES256', 'ES384', 'ES512', 'PS256', 'PS384', 'PS512']

const httpsUrl = (value: string): string | undefined =>
  URL.canParse(value) && new URL(value).protocol === 'https:' ? undefined : 'must be an https URL'

/** Must equal the tokens' issuer; the discovery path is appended to it. */
const oidcIssuer = (value: string): string | undefined => {
  const problem = httpsUrl(value)
  if (problem !== undefined) return problem
  const { username, password, search, hash } = new URL(value)
  return username === '' && password === '' && search === '' && hash === ''
    ? undefined
    : 'must be an https URL without user, query and fragment'
}

const issuer = (value: string): string | undefined =>
  value.includes(':') && !URL.canParse(value) ? 'must be a URI where it has a colon' : undefined

const header = (value: string): string | undefined =>
  /^[!#$%&'*+.^_`|~0-9a-z-]+$/i.test(value) ? undefined : 'must be the name of a header'

export const authentication = {
  'anonymous-auth': bool(true, 'allow anonymous requests, as user system:anonymous in group system:unauthenticated'),
  'api-audiences': list([], 'accepted token audiences; blank uses --service-account-issuer'),
  'authentication-config': path(
    'file with an AuthenticationConfiguration: issuers of JSON Web Tokens and anonymous requests; it is followed'
  ),
  'authentication-token-webhook-config-file': path('kubeconfig of the webhook for token authentication'),
  'authentication-token-webhook-cache-ttl': duration(120_000, 'time to cache answers of the token webhook'),
  'authentication-token-webhook-version': choice(
    ['v1beta1', 'v1'], 'v1beta1', 'version of TokenReview sent to the token webhook'
  ),
  'client-ca-file': path(
    'CA bundle for verifying client certificates; the common name becomes the user name, organizations its groups'
  ),
  'token-auth-file': path('CSV file of static bearer tokens: token,user name,user uid,"group,group"'),
  'enable-bootstrap-token-auth': bool(false, 'accept bootstrap tokens, kept as Secrets in orch-system'),
  'oidc-issuer-url': text('', 'https URL of the OpenID Connect issuer', oidcIssuer),
  'oidc-client-id': text('', 'client ID that OpenID Connect tokens must be issued for'),
  'oidc-username-claim': text('sub', 'OpenID Connect claim to use as the user name'),
  'oidc-username-prefix': text(
    '', 'prefix of OpenID Connect user names; - is no prefix, blank is the issuer URL and # unless the claim is email'
  ),
  'oidc-groups-claim': text('', 'OpenID Connect claim to use as the groups'),
  'oidc-groups-prefix': text('', 'prefix of OpenID Connect groups'),
  'oidc-required-claim': pairs('claims that OpenID Connect tokens must have, with their values'),
  'oidc-ca-file':
    path('CA bundle for verifying the certificate of the OpenID Connect issuer; blank uses the system roots'),
  'oidc-signing-algs': list(['RS256'], 'accepted signing algorithms of OpenID Connect tokens', oneOf(ALGORITHMS)),
  'service-account-key-file': list(
    [],
    'PEM files of the RSA or ECDSA keys (public, private or certificates) for verifying ServiceAccount tokens; blank ' +
      'uses --tls-private-key-file and a key generated in --cert-dir (service-account.key), which signs tokens'
  ),
  'service-account-signing-key-file':
    path('private key (PEM) for signing ServiceAccount tokens, one of --service-account-key-file'),
  'service-account-signing-endpoint': text(
    '',
    'path of the Unix socket of a service that signs ServiceAccount tokens and has the keys that verify them; ' +
      'excludes both key files',
    socketPath
  ),
  'service-account-issuer': list(
    [], 'issuers of ServiceAccount tokens: the first one is used for signing, all are accepted', issuer
  ),
  'service-account-jwks-uri': text('', 'URI of the JSON Web Key Set in the OpenID discovery document', httpsUrl),
  'service-account-lookup': bool(
    true,
    'reject ServiceAccount tokens kept in Secrets when the ServiceAccount or Secret no longer exists; other tokens ' +
      'are always checked'
  ),
  'service-account-max-token-expiration': duration(
    0, 'maximum lifetime of requested ServiceAccount tokens; 0 is no limit', { max: 2 ** 32 * 1000 }
  ),
  'service-account-extend-token-expiration': bool(
    true, 'extend the lifetime of ServiceAccount tokens injected into pods to a year'
  ),
  'requestheader-username-headers': list([], 'headers with the user name, set by an authenticating proxy', header),
  'requestheader-group-headers': list([], 'headers with the groups, set by an authenticating proxy', header),
  'requestheader-extra-headers-prefix': list(
    [], 'prefixes of headers with extra user info, set by an authenticating proxy', header
  ),
  'requestheader-uid-headers': list([], 'headers with the UID, set by an authenticating proxy', header),
  'requestheader-client-ca-file': path('CA bundle for verifying client certificates of authenticating proxies'),
  'requestheader-allowed-names': list(
    [],
    'common names of client certificates accepted from authenticating proxies; empty accepts all of ' +
      '--requestheader-client-ca-file'
  ),
  'proxy-client-cert-file': path('client certificate for calls to webhooks and aggregated API servers'),
  'proxy-client-key-file': path('private key matching --proxy-client-cert-file')
}

/** Minimum of --service-account-max-token-expiration, milliseconds; 0 means unlimited. */
export const MIN_TOKEN_EXPIRATION = HOUR
