/** Reads kubeconfigs that flags name, and validates the files they refer to at start-up. */
import { isClientError } from '../clients/errors.js'
import { HttpClient } from '../clients/http-client.js'
import { endpointOf, readKubeconfig, type Endpoint } from '../clients/kubeconfig.js'
import { FlagError } from './flag.js'
import type { FlagName } from './flags/index.js'

/** Does not connect. @throws FlagError */
export async function endpointIn (flag: FlagName, path: string): Promise<Endpoint> {
  try {
    const endpoint = endpointOf(await readKubeconfig(path))
    const client = new HttpClient({ caller: 'start', endpoint })
    await client.load().finally(() => client.close())
    return endpoint
  } catch (error) {
    if (!isClientError(error)) throw error
    throw new FlagError(flag, path, error.message, { cause: error })
  }
}
