/** Proxies from `--egress-selector-config-file`. @see interface, `--egress-selector-config-file` */
import type { EgressOptions, EgressProxy } from '../clients/egress/index.js'
import {
  destinationOf, EGRESS_CONFIGURATIONS, type EgressConnection, type EgressSelectorConfiguration
} from '../schemas/api/apiserver/egress.js'
import { checkPair, parseCertificates } from './certificates.js'
import { readDocument } from './documents.js'
import type { Source } from './public-settings.js'
import { ordinaryText, reasonOf } from './files.js'
import { FlagError } from './flag.js'

const FLAG = 'egress-selector-config-file'

/** @throws FlagError */
export function egressOptions (source: Source): EgressOptions {
  const { egressSelections = [] } = readDocument<EgressSelectorConfiguration>(source, EGRESS_CONFIGURATIONS)
  return Object.fromEntries(egressSelections.flatMap(({ name, connection }, index) => {
    const proxy = proxyOf(connection, source.path, `egressSelections[${index}].connection.transport`)
    const destination = destinationOf(name)
    return proxy === undefined ? [] : [[destination === 'controlplane' ? 'controlPlane' : destination, proxy]]
  }))
}

/** Undefined for direct connections. The connection has been validated. */
function proxyOf (
  { proxyProtocol, transport: { tcp, uds } = {} }: EgressConnection, path: string, at: string
): EgressProxy | undefined {
  if (proxyProtocol !== 'HTTPConnect' && proxyProtocol !== 'GRPC') return undefined
  if (uds !== undefined) return { protocol: proxyProtocol, socket: uds.udsName ?? '' }
  const { url = '', tlsConfig: { caBundle = '', clientCert = '', clientKey = '' } = {} } = tcp ?? {}
  if (clientCert === '') return { protocol: 'HTTPConnect', url }
  const field = `${at}.tcp.tlsConfig`
  if (caBundle !== '') checked(path, `${field}.caBundle`, caBundle, parseCertificates)
  const certificate = checked(path, `${field}.clientCert`, clientCert, parseCertificates)
  checked(path, `${field}.clientKey`, clientKey, key => checkPair({ certificate, key }))
  return {
    protocol: 'HTTPConnect', url,
    files: { ...(caBundle === '' ? {} : { authority: caBundle }), certificate: clientCert, key: clientKey }
  }
}

/** The text of a file that the configuration names. @throws FlagError */
function checked (path: string, field: string, file: string, check: (text: string) => unknown): string {
  try {
    const text = ordinaryText(file)
    check(text)
    return text
  } catch (error) {
    throw new FlagError(FLAG, path, `${field}: ${file}: ${reasonOf(error)}`, { cause: error })
  }
}
