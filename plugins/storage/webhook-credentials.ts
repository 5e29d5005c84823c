/** As whom a webhook is called: the user of a kubeconfig whose name is its host, or covers it, and else the server's own certificate. */
import { credentialsFor, credentialsOf, NO_CREDENTIALS, readKubeconfig } from '../../clients/kubeconfig.js'
import type { CallerCredentials, Kubeconfig, Material } from '../../clients/kubeconfig.js'

interface Own { readonly certificate: Material, readonly key: Material }

const HTTPS = ':443'

/**
 * @param path of the kubeconfig
 * @throws ClientError 'Config' for a file that cannot be used
 */
export async function hookCredentials (path: string | undefined, own: Own | undefined): Promise<(hostPort: string) => CallerCredentials | undefined> {
  const others = own === undefined ? undefined : { ...NO_CREDENTIALS, certificate: own.certificate, key: own.key }
  if (path === undefined) return () => others
  const config = await readKubeconfig(path)
  // What is wrong with one of them is found at the start.
  for (const user of config.users.keys()) credentialsOf(config, user)
  return hostPort => namedIn(config, hostPort) ?? others
}

/** By host and port, by host alone where the port is the usual one, then for all, then the user of the current context. */
function namedIn (config: Kubeconfig, hostPort: string): CallerCredentials | undefined {
  const named = { ...config, users: new Map([...config.users].filter(([name]) => name !== '*')) }
  const found = credentialsFor(named, hostPort) ?? (hostPort.endsWith(HTTPS) ? credentialsFor(named, hostPort.slice(0, -HTTPS.length)) : undefined)
  if (found !== undefined) return found
  if (config.users.has('*')) return credentialsOf(config, '*')
  const user = config.contexts.get(config.currentContext)?.['user']
  return typeof user === 'string' && config.users.has(user) ? credentialsOf(config, user) : undefined
}
