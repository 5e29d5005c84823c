/** Authentication and authorization options. */
import type { Authorities } from '../../auth/authorities.js'
import { parsePolicies } from '../../auth/abac.js'
import { AUTHORIZATION_MODES } from '../../auth/authorization-modes.js'
import type { Authorizer } from '../../auth/authorizer.js'
import type { AuthenticationOptions, HostAuthenticator } from '../../plugins/authentication/index.js'
import type { ConfiguredIssuersOptions } from '../../plugins/authentication/oidc/configured.js'
import type { OidcOptions } from '../../plugins/authentication/oidc/index.js'
import type { RequestHeaderOptions } from '../../plugins/authentication/request-header.js'
import { parseSigningKey, parseTokenKeys } from '../../plugins/authentication/service-account/keys.js'
import { parseTokenFile } from '../../plugins/authentication/token-file.js'
import type { TokenWebhookOptions } from '../../plugins/authentication/webhook.js'
import type { AuthorizationOptions } from '../../plugins/authorization/index.js'
import type { ConfiguredAuthorizer, ConfiguredAuthorizersOptions } from '../../plugins/authorization/configured.js'
import type { AuthorizationWebhookOptions } from '../../plugins/authorization/webhook.js'
import { conditionProblem } from '../../schemas/api/apiserver/match-conditions.js'
import { issuersProblem } from '../authentication-config.js'
import { choice, Problem } from '../flag.js'
import { authentication as flags } from '../flags/authentication.js'
import { authorization as modeFlags } from '../flags/authorization.js'
import {
  fromFlag, callback, each, either, withMethod, members, milliseconds, option, required, object, string, wholeNumber,
  type Option
} from '../option.js'
import { certificateMaterial, endpoint } from './calls.js'
import { certificates, parsed } from './files.js'

const issuers = option<ConfiguredIssuersOptions['issuers']>(value => {
  const problem = issuersProblem(value)
  if (problem !== undefined) throw new Problem(problem)
})

const authorities: Option<string | Authorities> = ({
  check: (value, path) => {
    (typeof value === 'string' ? certificates : withMethod<Authorities>('onChange')).check(value, path)
  }
})

export const authentication: Option<AuthenticationOptions> = members<AuthenticationOptions>({
  anonymous: either(
    either(fromFlag(choice(['health'], 'health', '')), fromFlag(flags['anonymous-auth'])), each(string())
  ),
  audiences: fromFlag(flags['api-audiences']),
  tokens: parsed(parseTokenFile),
  clientCertificates: fromFlag(flags['anonymous-auth']),
  clientAuthorities: authorities,
  requestHeader: members<RequestHeaderOptions>({
    authorities: required(authorities),
    allowedNames: fromFlag(flags['requestheader-allowed-names']),
    usernameHeaders: required(fromFlag(flags['requestheader-username-headers'])),
    groupHeaders: fromFlag(flags['requestheader-group-headers']),
    extraHeaderPrefixes: fromFlag(flags['requestheader-extra-headers-prefix']),
    uidHeaders: fromFlag(flags['requestheader-uid-headers'])
  }),
  serviceAccounts: members<NonNullable<AuthenticationOptions['serviceAccounts']>>({
    issuers: fromFlag(flags['service-account-issuer']),
    signingKey: parsed(parseSigningKey),
    signingSocket: fromFlag(flags['service-account-signing-endpoint']),
    verificationKeys: each(parsed(parseTokenKeys)),
    lookup: fromFlag(flags['service-account-lookup']),
    maxExpirationSeconds: wholeNumber(),
    extendExpiration: fromFlag(flags['service-account-extend-token-expiration']),
    keysUri: fromFlag(flags['service-account-jwks-uri']),
    certificateAuthority: certificates
  }),
  bootstrapTokens: fromFlag(flags['enable-bootstrap-token-auth']),
  oidc: members<OidcOptions>({
    issuer: required(fromFlag(flags['oidc-issuer-url'])),
    clientId: required(fromFlag(flags['oidc-client-id'])),
    algorithms: fromFlag(flags['oidc-signing-algs']),
    authority: certificateMaterial,
    usernameClaim: string(),
    usernamePrefix: string(),
    groupsClaim: string(),
    groupsPrefix: string(),
    requiredClaims: fromFlag(flags['oidc-required-claim']),
    client: object(),
    now: callback()
  }),
  jwt: members<ConfiguredIssuersOptions>({
    issuers: required(issuers),
    file: members<NonNullable<ConfiguredIssuersOptions['file']>>({
      path: required(string()), read: required(callback())
    }),
    client: object()
  }),
  webhook: members<TokenWebhookOptions>({
    endpoint: required(endpoint),
    version: fromFlag(flags['authentication-token-webhook-version']),
    cacheTtl: fromFlag(flags['authentication-token-webhook-cache-ttl']),
    client: object()
  }),
  authenticators: each(withMethod<HostAuthenticator>('authenticate'))
})

const webhookSettings = {
  endpoint: required(endpoint),
  version: fromFlag(modeFlags['authorization-webhook-version']),
  authorizedTtl: fromFlag(modeFlags['authorization-webhook-cache-authorized-ttl']),
  unauthorizedTtl: fromFlag(modeFlags['authorization-webhook-cache-unauthorized-ttl']),
  failurePolicy: fromFlag(choice(['NoOpinion', 'Deny'], 'NoOpinion', '')),
  timeout: milliseconds(),
  client: object()
}

export const authorization: Option<AuthorizationOptions> = members<AuthorizationOptions>({
  modes: each(fromFlag(choice(AUTHORIZATION_MODES, 'AlwaysAllow', ''))),
  policies: parsed(parsePolicies),
  webhook: members<AuthorizationWebhookOptions>(webhookSettings),
  configured: members<ConfiguredAuthorizersOptions>({
    authorizers: required(each(members<ConfiguredAuthorizer>({
      type: required(fromFlag(choice(AUTHORIZATION_MODES, 'AlwaysAllow', ''))),
      name: required(string()),
      webhook: members<NonNullable<ConfiguredAuthorizer['webhook']>>({
        ...webhookSettings, conditions: required(each(string(conditionProblem)))
      })
    }))),
    file: members<NonNullable<ConfiguredAuthorizersOptions['file']>>({
      path: required(string()), read: required(callback())
    })
  }),
  authorizers: each(withMethod<Authorizer>('authorize'))
})
