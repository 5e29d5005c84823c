/** Built-in authentication methods in order; the host's own methods come first. */
import type { Authenticator } from '../../auth/authenticator.js'
import { bootstrapTokenAuthenticator } from './bootstrap-token.js'
import { clientCertificateAuthenticator } from './client-certificate.js'
import type { AuthenticationOptions, Method, MethodContext } from './method.js'
import { requestHeaderAuthenticator } from './request-header.js'
import { tokenFileAuthenticator } from './token-file.js'

export const METHODS: readonly Method[] = [
  {
    name: 'request-header', make: ({ requestHeader }) =>
      requestHeader === undefined ? undefined : requestHeaderAuthenticator(requestHeader)
  },
  {
    name: 'client-certificate', make: ({ clientCertificates = false }, { metrics, gates }) =>
      clientCertificates ? clientCertificateAuthenticator(metrics, gates) : undefined
  },
  { name: 'token-file', make: ({ tokens }) => tokens === undefined ? undefined : tokenFileAuthenticator(tokens) },
  { name: 'service-account', make: (_options, { serviceAccounts }) => serviceAccounts },
  {
    name: 'bootstrap-token', make: ({ bootstrapTokens = false }, { resources, clock }) =>
      bootstrapTokens ? bootstrapTokenAuthenticator({ resources, now: clock.wall }) : undefined
  },
  {
    name: 'oidc', make: async ({ oidc }, context) =>
      oidc === undefined ? undefined : (await import('./oidc/index.js')).oidcAuthenticator(oidc, context)
  },
  {
    name: 'jwt', make: async ({ jwt }, context) =>
      jwt === undefined ? undefined : (await import('./oidc/configured.js')).configuredIssuers(jwt, context)
  },
  {
    name: 'webhook', make: async ({ webhook }, context) =>
      webhook === undefined ? undefined : (await import('./webhook.js')).tokenWebhookAuthenticator(webhook, context)
  }
]

/** Creates the enabled authenticators. */
export async function authenticatorsOf (
  options: AuthenticationOptions, context: MethodContext
): Promise<Authenticator[]> {
  const all = [...options.authenticators ?? []]
  for (const { make } of METHODS) {
    const authenticator = await make(options, context)
    if (authenticator !== undefined) all.push(authenticator)
  }
  return all
}
