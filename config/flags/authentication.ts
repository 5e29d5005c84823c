/** Who is asking. */
import { among, bool, choice, duration, list, pairs, path, text } from '../flag.js'

const HOUR = 3_600_000
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'ES256', 'ES384', 'ES512', 'PS256', 'PS384', 'PS512']

const httpsUrl = (value: string): string | undefined =>
  URL.canParse(value) && new URL(value).protocol === 'https:' ? undefined : 'must be an https URL'

const issuer = (value: string): string | undefined =>
  value.includes(':') && !URL.canParse(value) ? 'must be a URI where it has a colon' : undefined

const header = (value: string): string | undefined =>
  /^[!#$%&'*+.^_`|~0-9a-z-]+$/i.test(value) ? undefined : `"${value}" must be the name of a header`

export const authentication = {
  'anonymous-auth': bool(true, 'serve requests without credentials as system:anonymous'),
  'api-audiences': list([], 'names of this server, one of which a token has to be meant for; blank takes --service-account-issuer'),
  'authentication-token-webhook-config-file': path('kubeconfig of the service that judges bearer tokens'),
  'authentication-token-webhook-cache-ttl': duration(120_000, 'time for which its answers are remembered'),
  'authentication-token-webhook-version': choice(['v1beta1', 'v1'], 'v1beta1', 'version of the TokenReview it is sent'),
  'client-ca-file': path('certificates of the authorities whose client certificates are believed'),
  'token-auth-file': path('CSV file of tokens: token, user name, user uid, groups'),
  'enable-bootstrap-token-auth': bool(false, 'believe bootstrap tokens kept as Secrets in orch-system'),
  'oidc-issuer-url': text('', 'https address of the OpenID issuer', httpsUrl),
  'oidc-client-id': text('', 'client for which its tokens have to be meant'),
  'oidc-username-claim': text('sub', 'claim that is the user name'),
  'oidc-username-prefix': text('', 'what to put before it; - for nothing, blank for the issuer and # unless the claim is email'),
  'oidc-groups-claim': text('', 'claim that holds the groups'),
  'oidc-groups-prefix': text('', 'what to put before each group'),
  'oidc-required-claim': pairs('claims a token has to have, with their values'),
  'oidc-ca-file': path('certificates of the authorities that sign that of the issuer; blank takes those of the host'),
  'oidc-signing-algs': list(['RS256'], 'algorithms its tokens may be signed with', among(ALGORITHMS)),
  'service-account-key-file': list([], 'PEM files of the keys that check tokens of service accounts; blank takes the TLS key'),
  'service-account-signing-key-file': path('private key that signs tokens of service accounts'),
  'service-account-issuer': list([], 'issuers of tokens of service accounts: the first one issues, all are believed', issuer),
  'service-account-jwks-uri': text('', 'address of the key set in the discovery document', httpsUrl),
  'service-account-lookup': bool(true, 'refuse tokens of service accounts that are gone from the store'),
  'service-account-max-token-expiration': duration(0, 'longest life of a token a client may ask for', { max: 2 ** 32 * 1000 }),
  'service-account-extend-token-expiration': bool(true, 'let tokens that were put into pods live for up to a year'),
  'requestheader-username-headers': list([], 'headers in which a front proxy hands on the user name', header),
  'requestheader-group-headers': list([], 'headers in which it hands on groups', header),
  'requestheader-extra-headers-prefix': list([], 'beginnings of the headers in which it hands on anything else', header),
  'requestheader-client-ca-file': path('certificates of the authorities whose front proxies are believed'),
  'requestheader-allowed-names': list([], 'common names of front proxies; empty believes every certificate of these authorities'),
  'proxy-client-cert-file': path('client certificate with which the server calls webhooks and extension servers'),
  'proxy-client-key-file': path('private key of --proxy-client-cert-file')
}

/** The shortest cap on the life of a token, in milliseconds; 0 is no cap. */
export const MIN_TOKEN_EXPIRATION = HOUR
