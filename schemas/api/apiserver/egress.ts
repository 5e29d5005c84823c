/**
 * Egress selection: through which proxies the server reaches nodes and services of the cluster, servers of the control
 * plane, and etcd.
 *
 * @see interface, `--egress-selector-config-file`
 */
import { apiPackage, list, one, string, type Message, type Report, type Static } from '../../language/declare.js'
import { MAX_SOCKET_PATH } from '../../limits.js'
import { duplicate, forbidden, invalid, notSupported, required, tooLong } from '../../rules/findings.js'

export const PROTOCOLS = ['Direct', 'HTTPConnect', 'GRPC'] as const
/** `master` is the former name of `controlplane`. */
const NAMES = ['cluster', 'controlplane', 'etcd', 'master']

function declare (version: 'v1alpha1' | 'v1beta1') {
  const { message, kind } = apiPackage('apiserver.orch.io', version, `io.orch.apiserver.${version}`)
  const TLSConfig = message('TLSConfig', 'TLS to the proxy.', {
    caBundle: string(null, 'File of the authorities that the proxy is verified with; empty for those of the system.'),
    clientKey: string(null, 'File of the private key.'),
    clientCert: string(null, 'File of the client certificate.')
  })
  const Transport = message('Transport', 'Where the proxy listens: one of the two.', {
    tcp: one(null, 'A URL.', message('TCPTransport', 'A proxy at a URL.', {
      url: string(null, 'The URL: https://HOST:PORT or http://HOST:PORT.'),
      tlsConfig: one(null, 'TLS settings of an https proxy.', TLSConfig, { pointer: true })
    }), { pointer: true }),
    uds: one(null, 'A socket.', message('UDSTransport', 'A proxy at a Unix domain socket.', {
      udsName: string(null, 'Path of the socket.')
    }), { pointer: true })
  })
  const Connection = message('Connection', 'How to connect.', {
    proxyProtocol: string(null, 'Direct, HTTPConnect or GRPC.'),
    transport: one(null, 'The proxy.', Transport, { pointer: true })
  })
  const Selection = message('EgressSelection', 'The connections to one kind of destination.', {
    name: string(null, 'cluster, controlplane or etcd; master is the former name of controlplane.', { required: true }),
    connection: one(null, 'How to connect.', Connection, { required: true })
  })
  return kind('EgressSelectorConfiguration', 'Connections by destination.', {
    egressSelections: list(
      null, 'Destinations; those that are not listed are connected to directly.', Selection, { required: true }
    )
  }, {
    validate: ({ egressSelections = [] }, at, report) => {
      validateSelections(egressSelections, at === '' ? 'egressSelections' : `${at}.egressSelections`, report)
    }
  })
}

const beta = declare('v1beta1')
export type EgressSelectorConfiguration = Static<typeof beta>
export type EgressConnection = NonNullable<EgressSelectorConfiguration['egressSelections']>[number]['connection']

/** One for each version. */
export const EGRESS_CONFIGURATIONS: ReadonlyArray<Message<EgressSelectorConfiguration>> = [
  beta, declare('v1alpha1') as typeof beta
]

/** Names are not case-sensitive. */
export const destinationOf = (name: string): string =>
  name.toLowerCase() === 'master' ? 'controlplane' : name.toLowerCase()

function validateSelections (
  selections: NonNullable<EgressSelectorConfiguration['egressSelections']>, at: string, report: Report
): void {
  const seen = new Set<string>()
  for (const [index, { name, connection }] of selections.entries()) {
    const path = `${at}[${index}]`
    const destination = destinationOf(name)
    if (!NAMES.includes(name.toLowerCase())) notSupported(report, `${path}.name`, name, NAMES)
    else if (seen.has(destination)) duplicate(report, `${path}.name`, name)
    seen.add(destination)
    validateConnection(connection, `${path}.connection`, report)
  }
}

function validateConnection ({ proxyProtocol = '', transport }: EgressConnection, at: string, report: Report): void {
  if (!PROTOCOLS.some(protocol => protocol === proxyProtocol)) {
    return notSupported(report, `${at}.proxyProtocol`, proxyProtocol, PROTOCOLS)
  }
  if (proxyProtocol === 'Direct') {
    if (transport !== undefined) forbidden(report, `${at}.transport`, 'a direct connection has no transport')
    return
  }
  const { tcp, uds } = transport ?? {}
  if (tcp === undefined && uds === undefined) {
    return required(
      report, `${at}.transport`, proxyProtocol === 'GRPC' ? 'uds must be set for GRPC' : 'tcp or uds must be set'
    )
  }
  if (tcp !== undefined && uds !== undefined) {
    return forbidden(report, `${at}.transport`, 'tcp and uds cannot both be set')
  }
  if (uds !== undefined) {
    const { udsName = '' } = uds
    if (udsName === '') required(report, `${at}.transport.uds.udsName`, 'path of the socket')
    else if (Buffer.byteLength(udsName) > MAX_SOCKET_PATH) {
      tooLong(report, `${at}.transport.uds.udsName`, MAX_SOCKET_PATH)
    }
  }
  if (tcp === undefined) return
  if (proxyProtocol === 'GRPC') return forbidden(report, `${at}.transport.tcp`, 'GRPC is spoken over uds only')
  validateUrl(tcp, `${at}.transport.tcp`, report)
}

type Tcp = NonNullable<NonNullable<EgressConnection['transport']>['tcp']>

function validateUrl ({ url = '', tlsConfig }: Tcp, at: string, report: Report): void {
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  if (parsed === undefined || !/^https?:$/.test(parsed.protocol) || parsed.hostname === '') {
    return invalid(
      report, `${at}.url`, url.replace(/\/\/[^/@]*@/, '//'), 'must be https://HOST:PORT or http://HOST:PORT'
    )
  }
  if (parsed.username !== '' || parsed.password !== '') {
    return invalid(report, `${at}.url`, `${parsed.protocol}//${parsed.host}`, 'must have no user and password')
  }
  if (parsed.protocol === 'http:') {
    if (tlsConfig !== undefined) forbidden(report, `${at}.tlsConfig`, 'a proxy at an http URL has no TLS')
    return
  }
  if (tlsConfig === undefined) {
    return required(report, `${at}.tlsConfig`, 'a proxy at an https URL needs a client certificate')
  }
  if ((tlsConfig.clientCert ?? '') === '') {
    required(report, `${at}.tlsConfig.clientCert`, 'file of the client certificate')
  }
  if ((tlsConfig.clientKey ?? '') === '') required(report, `${at}.tlsConfig.clientKey`, 'file of its private key')
}
