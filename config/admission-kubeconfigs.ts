/** Validates kubeconfigs of admission plugins, including the files they name, at start-up. */
import { isClientError } from '../clients/errors.js'
import { HttpClient } from '../clients/http-client.js'
import { credentialsOf, endpointOf, readKubeconfig, type Endpoint } from '../clients/kubeconfig.js'
import { ConfigurationError, type PluginConfiguration } from '../admission/configuration.js'
import { imagePolicyIn } from '../admission/plugins/image-policy-configuration.js'
import { kubeconfigIn } from '../admission/webhooks/configuration.js'

const ANYWHERE: Omit<Endpoint, 'credentials'> = {
  server: new URL('https://localhost'), authority: undefined, insecure: false, serverName: undefined, proxy: undefined
}

/** Does not connect. @throws ConfigurationError */
export async function checkKubeconfigs (configuration: Readonly<Record<string, PluginConfiguration>>): Promise<void> {
  for (const [name, given] of Object.entries(configuration)) {
    try {
      if (name === 'ImagePolicyWebhook') {
        await load(endpointOf(await readKubeconfig(imagePolicyIn(name, given).kubeConfigFile)))
      }
      if (name !== 'MutatingAdmissionWebhook' && name !== 'ValidatingAdmissionWebhook') continue
      const kubeconfig = await readKubeconfig(kubeconfigIn(name, given))
      for (const user of kubeconfig.users.keys()) {
        await load({ ...ANYWHERE, credentials: credentialsOf(kubeconfig, user) })
      }
    } catch (error) {
      if (!isClientError(error)) throw error
      throw new ConfigurationError(name, given, error.message, { cause: error })
    }
  }
}

async function load (endpoint: Endpoint): Promise<void> {
  const client = new HttpClient({ caller: 'start', endpoint })
  await client.load().finally(() => client.close())
}
