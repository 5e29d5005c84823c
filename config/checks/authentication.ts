/** Authentication and authorization options. */
import type { Authenticator } from '../../auth/authenticator.js'
import type { Authorities } from '../../auth/authorities.js'
import { parsePolicies } from '../../auth/abac.js'
import { AUTHORIZATION_MODES } from '../../auth/authorization-modes.js'
import type { Authorizer } from '../../auth/authorizer.js'
import type { AuthenticationOptions } from '../../plugins/authentication/index.js'
import type { OidcOptions } from '../../plugins/authentication/oidc/index.js'
import type { RequestHeaderOptions } from '../../plugins/authentication/request-header.js'
import { parseSigningKey, parseTokenKeys } from '../../plugins/authentication/service-account/keys.js'
import { parseTokenFile } from '../../plugins/authentication/token-file.js'
import type { TokenWebhookOptions } from '../../plugins/authentication/webhook.js'
import type { AuthorizationOptions } from '../../plugins/authorization/index.js'
import type { AuthorizationWebhookOptions } from '../../plugins/authorization/webhook.js'
import { choice } from '../flag.js'
import { authentication as flags } from '../flags/authentication.js'
import { authorization as modeFlags } from '../flags/authorization.js'
import { as, callback, each, either, having, members, needed, object, string, whole, type Option } from '../option.js'
import { certificateMaterial, endpoint } from './calls.js'
import { certificates, parsed } from './files.js'

const authorities: Option<string | Authorities> = ({
  check: (value, path) => { (typeof value === 'string' ? certificates : having<Authorities>('onChange')).check(value, path) }
})

export const authentication: Option<AuthenticationOptions> = members<AuthenticationOptions>({
  anonymous: either(as(choice(['health'], 'health', '')), as(flags['anonymous-auth'])),
  audiences: as(flags['api-audiences']),
  tokens: parsed(parseTokenFile),
  clientCertificates: as(flags['anonymous-auth']),
  clientAuthorities: authorities,
  requestHeader: members<RequestHeaderOptions>({
    authorities: needed(authorities),
    allowedNames: as(flags['requestheader-allowed-names']),
    usernameHeaders: needed(as(flags['requestheader-username-headers'])),
    groupHeaders: as(flags['requestheader-group-headers']),
    extraHeaderPrefixes: as(flags['requestheader-extra-headers-prefix'])
  }),
  serviceAccounts: members<NonNullable<AuthenticationOptions['serviceAccounts']>>({
    issuers: as(flags['service-account-issuer']),
    signingKey: parsed(parseSigningKey),
    verificationKeys: each(parsed(parseTokenKeys)),
    lookup: as(flags['service-account-lookup']),
    maxExpirationSeconds: whole(),
    extendExpiration: as(flags['service-account-extend-token-expiration']),
    keysUri: as(flags['service-account-jwks-uri']),
    certificateAuthority: certificates
  }),
  bootstrapTokens: as(flags['enable-bootstrap-token-auth']),
  oidc: members<OidcOptions>({
    issuer: needed(as(flags['oidc-issuer-url'])),
    clientId: needed(as(flags['oidc-client-id'])),
    algorithms: as(flags['oidc-signing-algs']),
    authority: certificateMaterial,
    usernameClaim: string(),
    usernamePrefix: string(),
    groupsClaim: string(),
    groupsPrefix: string(),
    requiredClaims: as(flags['oidc-required-claim']),
    client: object(),
    now: callback()
  }),
  webhook: members<TokenWebhookOptions>({
    endpoint: needed(endpoint),
    version: as(flags['authentication-token-webhook-version']),
    cacheTtl: as(flags['authentication-token-webhook-cache-ttl']),
    client: object()
  }),
  authenticators: each(having<Authenticator>('authenticate'))
})

export const authorization: Option<AuthorizationOptions> = members<AuthorizationOptions>({
  modes: each(as(choice(AUTHORIZATION_MODES, 'AlwaysAllow', ''))),
  policies: parsed(parsePolicies),
  webhook: members<AuthorizationWebhookOptions>({
    endpoint: needed(endpoint),
    version: as(modeFlags['authorization-webhook-version']),
    authorizedTtl: as(modeFlags['authorization-webhook-cache-authorized-ttl']),
    unauthorizedTtl: as(modeFlags['authorization-webhook-cache-unauthorized-ttl']),
    client: object()
  }),
  authorizers: each(having<Authorizer>('authorize'))
})
