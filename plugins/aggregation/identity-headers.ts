/**
 * Request headers by which proxies tell the server behind them who a client is. This server authenticates by itself, so
 * clients that send them here made them up; an extension server that trusts them must not get them. The list is
 * closed, and `docs/operations.md` has it.
 */

/** Beginnings of names, in lower case, with `-` for `_`, which some servers treat alike. */
export const IDENTITY_PREFIXES: readonly string[] = [
  'x-remote-', 'impersonate-',
  // What a proxy found in a client's certificate.
  'ssl-client-', 'x-ssl-client-', 'x-ssl-cert',
  'client-cert', 'x-client-cert', 'x-client-verify', 'x-client-dn', 'x-client-s-dn',
  'x-forwarded-client-cert', 'x-forwarded-tls-client-cert', 'x-amzn-mtls-clientcert', 'x-arr-clientcert',
  // What a proxy found out by signing the user in.
  'x-auth-request-', 'x-authentik-', 'x-pomerium-', 'x-vouch-', 'x-webauth-', 'x-authenticated-',
  'x-goog-authenticated-user-', 'x-goog-iap-',
  'x-amzn-oidc-', 'x-ms-client-principal', 'x-ms-token-', 'cf-access-', 'tailscale-user-', 'x-tailscale-user-'
]

/** Whole names, in the same form. */
export const IDENTITY_NAMES: readonly string[] = [
  'remote-user', 'remote-group', 'remote-groups', 'remote-name', 'remote-email',
  'auth-user', 'x-auth-user', 'x-auth-username', 'x-auth-email', 'x-auth-groups',
  'x-user', 'x-username', 'x-userid', 'x-user-id', 'x-user-email', 'x-userinfo', 'x-email', 'x-groups', 'x-proxy-user',
  'x-forwarded-user', 'x-forwarded-email', 'x-forwarded-groups', 'x-forwarded-preferred-username',
  'x-forwarded-access-token'
]

const names: ReadonlySet<string> = new Set(IDENTITY_NAMES)

export function claimsIdentity (header: string): boolean {
  const name = header.toLowerCase().replaceAll('_', '-')
  return names.has(name) || IDENTITY_PREFIXES.some(prefix => name.startsWith(prefix))
}
