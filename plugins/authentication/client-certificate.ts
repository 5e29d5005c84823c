/**
 * Client certificates: one that chains to --client-ca-file names its user by the subject's common name
 * and the groups by its organizations. The handshake itself accepts any certificate, so that a bad one gets
 * a 401 with a Status rather than a closed connection. (Interface: Client certificates.)
 */
import type { Socket } from 'node:net'
import type { TLSSocket, PeerCertificate } from 'node:tls'
import type { Authenticator, ClientCertificate, UserInfo } from '../../schemas/request.js'

/** A connection's certificate never changes: read once per socket. */
const read = new WeakMap<object, ClientCertificate | 'none'>()
const users = new WeakMap<ClientCertificate, UserInfo>()

const listOf = (value: string | string[] | undefined): string[] => value === undefined ? [] : Array.isArray(value) ? value : [value]

export function certificateOf (socket: Socket): ClientCertificate | undefined {
  const known = read.get(socket)
  if (known !== undefined) return known === 'none' ? undefined : known
  const found = inspect(socket as Partial<TLSSocket>)
  read.set(socket, found ?? 'none')
  return found
}

function inspect (socket: Partial<TLSSocket>): ClientCertificate | undefined {
  if (typeof socket.getPeerCertificate !== 'function') return undefined
  const certificate = socket.getPeerCertificate() as PeerCertificate | null
  if (certificate === null || certificate.subject === undefined) return undefined
  const { CN, O } = certificate.subject as unknown as Record<string, string | string[] | undefined> // repeated fields come as lists
  return {
    verified: socket.authorized === true && usableByClient(certificate),
    ...(socket.authorizationError ? { problem: String(socket.authorizationError) } : {}),
    commonName: listOf(CN)[0] ?? '',
    organizations: listOf(O)
  }
}

const CLIENT_AUTH = '1.3.6.1.5.5.7.3.2'
const ANY_USE = '2.5.29.37.0'

/** A certificate that lists its uses must list client authentication. */
function usableByClient ({ ext_key_usage: uses }: PeerCertificate): boolean {
  return uses === undefined || uses.includes(CLIENT_AUTH) || uses.includes(ANY_USE)
}

export const clientCertificateAuthenticator: Authenticator = {
  name: 'client-certificate',
  authenticate ({ certificate }) {
    if (certificate === undefined) return undefined
    if (!certificate.verified) throw new Error(`the client certificate is not valid for authentication: ${certificate.problem ?? 'its uses do not include client authentication'}`)
    if (certificate.commonName === '') return undefined
    let user = users.get(certificate)
    if (user === undefined) users.set(certificate, user = { username: certificate.commonName, uid: '', groups: certificate.organizations, extra: {} })
    return user
  }
}
