/**
 * How clients reach a test server: a kubeconfig, and the options that `KubeConfig.loadFromOptions` of
 * `@kubernetes/client-node` takes.
 */
import { tokenOf, type TestUser } from './users.js'

export interface Endpoint {
  readonly url: string
  /** PEM; undefined without TLS. */
  readonly certificateAuthority: string | undefined
}

/** Options for `loadFromOptions`. */
export interface ClientConfig {
  clusters: Array<{ name: string, server: string, caData?: string, skipTLSVerify: boolean }>
  users: Array<{ name: string, token?: string }>
  contexts: Array<{ name: string, cluster: string, user: string }>
  currentContext: string
}

const NAME = 'test'
const base64 = (text: string): string => Buffer.from(text).toString('base64')

/** @param user default: the user of requests without credentials */
export function clientConfig ({ url, certificateAuthority }: Endpoint, user?: TestUser): ClientConfig {
  const name = user?.username ?? NAME
  return {
    // the library refuses plain HTTP otherwise
    clusters: [{
      name: NAME, server: url, ...(certificateAuthority === undefined ? {} : { caData: base64(certificateAuthority) }),
      skipTLSVerify: certificateAuthority === undefined
    }],
    users: [{ name, ...(user === undefined ? {} : { token: tokenOf(user) }) }],
    contexts: [{ name: NAME, cluster: NAME, user: name }],
    currentContext: NAME
  }
}

/** A kubeconfig in JSON, which is valid YAML. Programs based on client-go send no token without TLS. */
export function kubeconfig (endpoint: Endpoint, user?: TestUser): string {
  const { clusters, users, contexts, currentContext } = clientConfig(endpoint, user)
  return `${JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: clusters.map(({ name, server, caData, skipTLSVerify }) => ({
      name,
      cluster: { server, 'certificate-authority-data': caData, 'insecure-skip-tls-verify': skipTLSVerify || undefined }
    })),
    users: users.map(({ name, token }) => ({ name, user: { token } })),
    contexts: contexts.map(({ name, cluster, user }) => ({ name, context: { cluster, user } })),
    'current-context': currentContext
  }, undefined, 2)}\n`
}
