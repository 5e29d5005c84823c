/** A real provider of OpenID Connect over TLS, and a user who logs in there like a browser. */
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, request } from 'node:https'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, type JWK } from 'jose'
import type { Test } from '../../../build.js'
import { authority } from '../../../serving/authority.js'

/** The part of the library that is used; it has no types of its own. */
interface Provider {
  callback: () => (request: IncomingMessage, response: ServerResponse) => void
  interactionFinished: (request: IncomingMessage, response: ServerResponse, result: object) => Promise<void>
  readonly Grant: new (of: object) => { addOIDCScope: (scope: string) => void, save: () => Promise<string> }
}
const { default: Library } = await import('oidc-provider' as string) as {
  default: new (issuer: string, configuration: object) => Provider
}

export const ca = authority('issuers')
const pair = ca.issue({ commonName: 'issuer', names: ['localhost'], uses: ['server'] })

export const CLIENT = 'cluster'
const SECRET = 'a secret of a client'
const CALLBACK = 'https://localhost/callback'

export interface RunningProvider {
  readonly issuer: string
  /** Requested paths. */
  readonly asked: string[]
  /** Logs in and returns the ID token. */
  readonly login: (account: string) => Promise<string>
  /** Replaces the signing key: from now on tokens use the new one, and the old one is no longer published. */
  readonly rotate: () => Promise<void>
}

export async function runProvider (t: Test, algorithm = 'RS256', claims: object = {}): Promise<RunningProvider> {
  const asked: string[] = []
  let provider: Provider | undefined
  const server = createServer({ cert: pair.certificate, key: pair.key }, (request, response) => {
    const path = request.url ?? ''
    asked.push(path)
    if (path.startsWith('/interaction/')) {
      void provider?.interactionFinished(request, response, {
        login: { accountId: new URL(path, 'https://x').searchParams.get('as') ?? '' }
      })
    } else provider?.callback()(request, response)
  })
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const issuer = `https://localhost:${port}`
  const rotate = async (): Promise<void> => {
    const { privateKey } = await generateKeyPair(algorithm, { extractable: true })
    const key: JWK = { ...await exportJWK(privateKey), alg: algorithm, use: 'sig', kid: randomBytes(4).toString('hex') }
    provider = new Library(issuer, configuration(key, algorithm, claims))
  }
  await rotate()
  return { issuer, asked, rotate, login: account => login(issuer, port, account) }
}

const configuration = (key: JWK, algorithm: string, claims: object): object => ({
  jwks: { keys: [key] },
  cookies: { keys: ['of a test'] },
  clients: [
    {
      client_id: CLIENT,
      client_secret: SECRET,
      redirect_uris: [CALLBACK],
      grant_types: ['authorization_code'],
      response_types: ['code'],
      id_token_signed_response_alg: algorithm
    }
  ],
  claims: { openid: ['sub'], email: ['email', 'email_verified'], groups: ['groups'] },
  scopes: ['openid', 'email', 'groups'],
  conformIdTokenClaims: false,
  enabledJWA: { idTokenSigningAlgValues: [algorithm] },
  features: { devInteractions: { enabled: false } },
  interactions: {
    url: (_context: unknown, { uid, params }: { uid: string, params: { login_hint?: string } }) =>
      `/interaction/${uid}?as=${params.login_hint ?? ''}`
  },
  findAccount: (_context: unknown, id: string) => ({
    accountId: id,
    claims: () => ({ sub: id, email: `${id}@example.com`, email_verified: true, groups: ['dev', 'ops'], ...claims })
  }),
  loadExistingGrant: async (
    { oidc }: { oidc: { provider: Provider, client: { clientId: string }, session: { accountId: string } } }
  ) => {
    const grant = new oidc.provider.Grant({ clientId: oidc.client.clientId, accountId: oidc.session.accountId })
    grant.addOIDCScope('openid email groups')
    await grant.save()
    return grant
  }
})

async function call (
  port: number, method: string, path: string, headers: Record<string, string>, body = ''
): Promise<{ response: IncomingMessage, text: string }> {
  const sent = request({
    host: '127.0.0.1',
    port,
    method,
    path,
    headers: { host: `localhost:${port}`, ...headers },
    ca: ca.certificate,
    servername: 'localhost',
    agent: false
  })
  sent.end(body)
  const [response] = await once(sent, 'response') as [IncomingMessage]
  let text = ''
  for await (const piece of response) text += String(piece)
  return { response, text }
}

/** The authorization code flow: redirects are followed, cookies kept, until the client is called back. */
async function login (issuer: string, port: number, account: string): Promise<string> {
  const verifier = randomBytes(32).toString('base64url')
  const query = new URLSearchParams({
    client_id: CLIENT,
    redirect_uri: CALLBACK,
    response_type: 'code',
    scope: 'openid email groups',
    login_hint: account,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256'
  })
  const cookies = new Map<string, string>()
  let at = new URL(`${issuer}/auth?${query.toString()}`)
  for (let steps = 0; at.origin === issuer; steps++) {
    const { response, text } = await call(port, 'GET', `${at.pathname}${at.search}`, {
      cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    })
    for (const cookie of response.headers['set-cookie'] ?? []) {
      const [name = '', value = ''] = (cookie.split(';')[0] ?? '').split(/=(.*)/s)
      cookies.set(name, value)
    }
    const { location } = response.headers
    if (location === undefined || steps > 10) {
      throw new Error(`the login ended with ${String(response.statusCode)}: ${text.slice(0, 500)}`)
    }
    at = new URL(location, at)
  }
  const form = new URLSearchParams({
    grant_type: 'authorization_code',
    code: at.searchParams.get('code') ?? '',
    redirect_uri: CALLBACK,
    code_verifier: verifier
  })
  const { text } = await call(
    port,
    'POST',
    '/token',
    {
      'content-type': 'application/x-www-form-urlencoded',
      authorization: `Basic ${Buffer.from(`${CLIENT}:${encodeURIComponent(SECRET)}`).toString('base64')}`
    },
    form.toString()
  )
  const { id_token: token } = JSON.parse(text) as { id_token?: string }
  if (token === undefined) throw new Error(`there is no token: ${text}`)
  return token
}
