/** How node agents are called, from the flags. */
import type { NodeAgentOptions } from '../plugins/connections/index.js'
import { readBundle, readPair } from './certificates.js'
import type { Values } from './flags/index.js'

/** The files are known to be whole; they are read again when they are replaced. @throws FlagError */
export function nodeAgentOptions (values: Values): NodeAgentOptions {
  const authority = values['node-agent-certificate-authority']
  const certificate = values['node-agent-client-certificate']
  const key = values['node-agent-client-key']
  if (authority !== '') readBundle('node-agent-certificate-authority', authority)
  if (certificate !== '') readPair({ certificate: 'node-agent-client-certificate', key: 'node-agent-client-key' }, certificate, key)
  return {
    files: { ...(authority === '' ? {} : { authority }), ...(certificate === '' ? {} : { certificate, key }) },
    preferredAddressTypes: values['node-agent-preferred-address-types'],
    timeout: values['node-agent-timeout']
  }
}

/** A certificate that is shown to anybody proves nothing to others, but what is sent with it can be read by whoever answers. */
export function nodeAgentWarnings (values: Values): string[] {
  if (values['node-agent-client-certificate'] === '' || values['node-agent-certificate-authority'] !== '') return []
  return ['--node-agent-client-certificate is given without --node-agent-certificate-authority: certificates of node agents are not verified, so whoever answers at the address of a node gets what is sent to its pods']
}
