/** Node agent options from flags. */
import type { NodeAgentOptions } from '../plugins/connections/index.js'
import { readBundle, readPair } from './certificates.js'
import type { Values } from './flags/index.js'

/** Validates the files, which are reloaded when they change. @throws FlagError */
export function nodeAgentOptions (values: Values): NodeAgentOptions {
  const authority = values['node-agent-certificate-authority']
  const certificate = values['node-agent-client-certificate']
  const key = values['node-agent-client-key']
  if (authority !== '') readBundle('node-agent-certificate-authority', authority)
  if (certificate !== '') {
    readPair({ certificate: 'node-agent-client-certificate', key: 'node-agent-client-key' }, certificate, key)
  }
  return {
    files: { ...(authority === '' ? {} : { authority }), ...(certificate === '' ? {} : { certificate, key }) },
    preferredAddressTypes: values['node-agent-preferred-address-types'],
    timeout: values['node-agent-timeout']
  }
}

/** Presenting a client certificate to an impostor is safe, but the impostor can read the requests. */
export function nodeAgentWarnings (values: Values): string[] {
  if (values['node-agent-client-certificate'] === '' || values['node-agent-certificate-authority'] !== '') return []
  return [
    '--node-agent-client-certificate is given without --node-agent-certificate-authority: certificates of node ' +
      'agents are not verified, so whoever answers at the address of a node gets what is sent to its pods'
  ]
}
