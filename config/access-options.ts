/** Options of authentication and authorization, with the files that their flags name. */
import type { AuthenticationOptions } from '../plugins/authentication/index.js'
import type { AuthorizationOptions } from '../plugins/authorization/index.js'
import type { OidcOptions } from '../plugins/authentication/oidc/index.js'
import type { RequestHeaderOptions } from '../plugins/authentication/request-header.js'
import type { TokenWebhookOptions } from '../plugins/authentication/webhook.js'
import type { AuthorizationWebhookOptions } from '../plugins/authorization/webhook.js'
import type { Authorities } from '../auth/authorities.js'
import type { AuthorizationMode } from '../auth/authorization-modes.js'
import { readBundle } from './certificates.js'
import type { Parsed } from './command-line.js'
import { ownLines, sourceOf } from './public-settings.js'
import { readText } from './files.js'
import { FlagError } from './flag.js'
import type { Values } from './flags/index.js'
import { serviceAccountOptions } from './service-accounts.js'

/** CAs of client certificates, and of the proxies that name users. */
type Certified = Readonly<Record<'clients' | 'proxies', { readonly authorities: Authorities } | undefined>>

export async function authenticationOptions (
  parsed: Parsed, { clients, proxies }: Certified
): Promise<AuthenticationOptions> {
  const { values, given } = parsed
  return {
    anonymous: values.local && !given.has('anonymous-auth') ? 'health' : values['anonymous-auth'],
    ...(values['authentication-config'] === '' ? {} : await configuredAuthentication(parsed)),
    ...serviceAccountOptions(values),
    ...(values['token-auth-file'] === '' ? {} : { tokens: await tokens(values['token-auth-file']) }),
    ...(values['oidc-issuer-url'] === '' ? {} : { oidc: oidc(values) }),
    ...(values['authentication-token-webhook-config-file'] === '' ? {} : { webhook: await webhook(values) }),
    ...(clients === undefined ? {} : { clientCertificates: true, clientAuthorities: clients.authorities }),
    ...(proxies === undefined ? {} : { requestHeader: requestHeader(values, proxies.authorities) })
  }
}

export async function authorizationOptions (parsed: Parsed): Promise<AuthorizationOptions> {
  const { values } = parsed
  return {
    ...(values['authorization-config'] === ''
      ? { modes: values['authorization-mode'] as AuthorizationMode[] } // the flag accepts no others
      : await (await import('./authorization-config.js')).authorizationConfig(parsed)),
    ...(values['authorization-policy-file'] === '' ? {} : { policies: await policies(values) }),
    ...(values['authorization-webhook-config-file'] === '' ? {} : { webhook: await authorizationWebhook(values) })
  }
}

async function configuredAuthentication (parsed: Parsed): Promise<AuthenticationOptions> {
  return (await import('./authentication-config.js')).authenticationConfig(parsed)
}

function oidc (values: Values): OidcOptions {
  const file = values['oidc-ca-file']
  if (file !== '') readBundle('oidc-ca-file', file)
  return {
    issuer: values['oidc-issuer-url'],
    clientId: values['oidc-client-id'],
    algorithms: values['oidc-signing-algs'],
    usernameClaim: values['oidc-username-claim'],
    usernamePrefix: values['oidc-username-prefix'],
    groupsClaim: values['oidc-groups-claim'],
    groupsPrefix: values['oidc-groups-prefix'],
    requiredClaims: values['oidc-required-claim'],
    ...(file === '' ? {} : { authority: { path: file } })
  }
}

async function webhook (values: Values): Promise<TokenWebhookOptions> {
  const { endpointIn } = await import('./kubeconfigs.js')
  return {
    endpoint: await endpointIn(
      'authentication-token-webhook-config-file', values['authentication-token-webhook-config-file']
    ),
    version: values['authentication-token-webhook-version'],
    cacheTtl: values['authentication-token-webhook-cache-ttl']
  }
}

async function authorizationWebhook (values: Values): Promise<AuthorizationWebhookOptions> {
  const { endpointIn } = await import('./kubeconfigs.js')
  return {
    endpoint: await endpointIn('authorization-webhook-config-file', values['authorization-webhook-config-file']),
    version: values['authorization-webhook-version'],
    authorizedTtl: values['authorization-webhook-cache-authorized-ttl'],
    unauthorizedTtl: values['authorization-webhook-cache-unauthorized-ttl']
  }
}

const requestHeader = (values: Values, authorities: Authorities): RequestHeaderOptions => ({
  authorities,
  allowedNames: values['requestheader-allowed-names'],
  usernameHeaders: values['requestheader-username-headers'],
  groupHeaders: values['requestheader-group-headers'],
  extraHeaderPrefixes: values['requestheader-extra-headers-prefix'],
  uidHeaders: values['requestheader-uid-headers']
})

/** Reads and validates the static token file. Errors never quote its lines. */
async function tokens (path: string): Promise<string> {
  const content = readText('token-auth-file', path)
  const { parseTokenFile } = await import('../plugins/authentication/token-file.js')
  try {
    parseTokenFile(content)
  } catch (error) {
    throw new FlagError(
      'token-auth-file', path, error instanceof Error ? error.message : String(error), { cause: error }
    )
  }
  return content
}

async function policies (values: Values): Promise<string> {
  const source = sourceOf(values, 'authorization-policy-file')
  const { flag, path } = source
  const content = ownLines(source, readText(flag, path))
  const { parsePolicies } = await import('../auth/abac.js')
  try {
    parsePolicies(content)
  } catch (error) {
    throw new FlagError(
      flag, path, error instanceof Error ? error.message : String(error), { cause: error }
    )
  }
  return content
}
