/**
 * Requests the discovery of an extension server, as an administrator, to learn whether it answers. As upstream the
 * certificate is not verified: the answer is not read.
 */
import { createSecureContext, type SecureContext } from 'node:tls'
import type { CertificatePair, ClientCertificate } from '../../clients/client-certificate.js'
import { reasonOf } from '../../clients/errors.js'
import { send } from '../../clients/outgoing.js'
import type { Probe } from '../../controllers/aggregation/check.js'
import { discoveryPath, shownRequest, targetOf, type Routing } from './target.js'
import { userHeaders } from './user-headers.js'

const TIMEOUT_MS = 5000
export const AGGREGATOR = { username: 'system:orch-aggregator', groups: ['system:masters'] }

export function discoveryProbe (routing: Routing, certificate: ClientCertificate, via: string): Probe {
  let current: { readonly pair: CertificatePair, readonly context: SecureContext } | undefined
  return async (remote, signal) => {
    const target = await targetOf(remote, routing)
    const { path, user } = shownRequest({ path: discoveryPath(remote), user: AGGREGATOR }, routing)
    const url = `https://${target.authority}${path}`
    const pair = await certificate.current()
    if (current?.pair !== pair) {
      current = { pair, context: createSecureContext({ ca: [], cert: pair.cert, key: pair.key }) }
    }
    let cancel = (): void => {}
    const timer = setTimeout(() => { cancel() }, TIMEOUT_MS)
    try {
      const { answer } = await send({
        ...target,
        method: 'GET',
        path,
        headers: [
          'Host', target.authority, 'Accept', 'application/json', 'User-Agent', 'orch-apiserver', 'Via', via,
          ...userHeaders(user)
        ],
        verify: false,
        secureContext: current.context,
        upgrade: false,
        connectTimeout: TIMEOUT_MS
      }, request => {
        cancel = () => { request.destroy(new Error('no answer in time')) }
        signal.addEventListener('abort', cancel, { once: true })
      })
      answer.destroy()
      const { statusCode = 0 } = answer
      if (statusCode < 200 || statusCode >= 300) throw new Error(`bad status from ${url}: ${statusCode}`)
    } catch (cause) {
      throw new Error(`failing or missing response from ${url}: ${reasonOf(cause)}`, { cause })
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', cancel)
    }
  }
}
