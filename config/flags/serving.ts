/** Where and how the server listens. */
import { bool, choice, int, ipAddress, list, path, repeated, text } from '../flag.js'
import { cipherProblem, TLS_VERSIONS } from '../tls-names.js'

function hostname (value: string): string | undefined {
  const match = /^(?:[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?|\[[0-9a-f:.]+\])(?::(\d{1,5}))?$/i.exec(value)
  return match === null || Number(match[1] ?? 1) > 65535 ? 'must be a host name, with a port if need be' : undefined
}

const advertised = (value: string): string | undefined =>
  ipAddress(value) ?? (value === '0.0.0.0' || value === '::' ? 'must be an address that others can reach, not the unspecified one' : undefined)

const hsts = (value: string): string | undefined =>
  /^(?:max-age=\d{1,10}|includeSubDomains|preload)$/i.test(value) ? undefined : 'each directive must be max-age=SECONDS, includeSubDomains or preload'

/** `cert,key` or `cert,key:pattern,pattern`. */
const sni = (value: string): string | undefined =>
  /^[^,:]+,[^,:]+(?::[^,:]+(?:,[^,:]+)*)?$/.test(value) ? undefined : 'must have the form certificate-file,key-file or certificate-file,key-file:domain,domain'

export const serving = {
  'advertise-address': text('', 'IP address under which members of the cluster reach this server; blank takes --bind-address or, where that is unspecified, the address of the default interface', advertised),
  'bind-address': text('0.0.0.0', 'IP address to listen on; blank, 0.0.0.0 and :: are all interfaces', ipAddress),
  'secure-port': int(6443, 'port of HTTPS, always on', { min: 1, max: 65535, why: 'the secure port cannot be switched off' }),
  'cert-dir': path('folder in which a self-signed pair is kept as apiserver.crt and apiserver.key when no pair is given', '/var/run/orch'),
  'tls-cert-file': path('certificate for HTTPS in PEM, followed by those of its issuers'),
  'tls-private-key-file': path('private key of --tls-cert-file'),
  'tls-sni-cert-key': repeated('another pair, CERTIFICATE,KEY, chosen by the name a client asks for; after a colon its domain patterns, else the names in the certificate hold', sni),
  'tls-cipher-suites': list([], 'names of the cipher suites of TLS up to 1.2 and of TLS 1.3; empty takes the default of the runtime', cipherProblem),
  'tls-min-version': choice(['', ...TLS_VERSIONS], '', 'oldest version of TLS that is spoken; blank is VersionTLS12'),
  'strict-transport-security-directives': list([], 'directives of the Strict-Transport-Security header; empty sends none', hsts),
  'cors-allowed-origins': list([], 'regular expressions of origins that browsers may call from; empty switches CORS off'),
  'external-hostname': text('', 'host name in addresses the server gives out', hostname),
  'permit-address-sharing': bool(false, 'listen although the address is still held by an ended connection (SO_REUSEADDR, which this runtime always sets)'),
  'permit-port-sharing': bool(false, 'let several processes listen on the port (SO_REUSEPORT)'),
  'http2-max-streams-per-connection': int(0, 'streams a client may have open on one HTTP/2 connection; 0 is 250', { min: 0, max: 2 ** 31 - 1 })
}
