/**
 * Credentials for webhooks: the kubeconfig user whose name matches the host, otherwise the server's own certificate.
 */
import {
  credentialsFor, credentialsOf, NO_CREDENTIALS, readKubeconfig, type Material, type CallerCredentials, type Kubeconfig
} from '../../clients/kubeconfig.js'

interface Own { readonly certificate: Material, readonly key: Material }

const HTTPS = ':443'

/** @param path of the kubeconfig @throws ClientError 'Config' for an unusable file */
export async function hookCredentials (
  path: string | undefined, own: Own | undefined
): Promise<(hostPort: string) => CallerCredentials | undefined> {
  const others = own === undefined ? undefined : { ...NO_CREDENTIALS, certificate: own.certificate, key: own.key }
  if (path === undefined) return () => others
  const config = await readKubeconfig(path)
  // Validate all users at start-up.
  for (const user of config.users.keys()) credentialsOf(config, user)
  return hostPort => namedIn(config, hostPort) ?? others
}

/** Matches host and port, then the host if the port is 443, then `*`, then the current context's user. */
function namedIn (config: Kubeconfig, hostPort: string): CallerCredentials | undefined {
  const named = { ...config, users: new Map([...config.users].filter(([name]) => name !== '*')) }
  const credentials = credentialsFor(named, hostPort) ?? (hostPort.endsWith(HTTPS)
    ? credentialsFor(named, hostPort.slice(0, -HTTPS.length))
    : undefined)
  if (credentials !== undefined) return credentials
  if (config.users.has('*')) return credentialsOf(config, '*')
  const user = config.contexts.get(config.currentContext)?.['user']
  return typeof user === 'string' && config.users.has(user) ? credentialsOf(config, user) : undefined
}
