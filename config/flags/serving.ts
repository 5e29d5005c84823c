/** Flags for listening and TLS. */
import { bool, choice, int, ipAddress, list, path, repeated, text } from '../flag.js'
import { processesProblem } from '../serving-processes.js'
import { hostnameProblem, hstsProblem } from '../header-values.js'
import { cipherProblem, curveProblem, TLS_VERSIONS } from '../tls-names.js'

const advertised = (value: string): string | undefined =>
  ipAddress(value) ?? (value === '0.0.0.0' || value === '::'
    ? 'must be an address that others can reach, not the unspecified one'
    : undefined)

/** `cert,key` or `cert,key:pattern,pattern`. */
const sni = (value: string): string | undefined =>
  /^[^,:]+,[^,:]+(?::[^,:]+(?:,[^,:]+)*)?$/.test(value)
    ? undefined
    : 'must have the form certificate-file,key-file or certificate-file,key-file:domain,domain'

export const serving = {
  'advertise-address': text(
    '',
    'IP address at which members of the cluster reach this server; blank uses --bind-address or, if that is ' +
      'unspecified, the address of the default interface',
    advertised
  ),
  'bind-address': text('0.0.0.0', 'IP address to listen on; blank, 0.0.0.0 and :: listen on all interfaces', ipAddress),
  'secure-port': int(6443, 'port to serve HTTPS on; it cannot be switched off', {
    min: 1, max: 65535, why: 'the secure port cannot be switched off'
  }),
  'cert-dir': path(
    'directory of the self-signed certificate (apiserver.crt, apiserver.key), generated if --tls-cert-file is not ' +
      'given',
    '/var/run/orch'
  ),
  'tls-cert-file': path('x509 certificate for HTTPS (PEM), followed by its intermediate certificates'),
  'tls-private-key-file': path('x509 private key matching --tls-cert-file (PEM)'),
  'tls-sni-cert-key': repeated(
    'additional CERTIFICATE,KEY pair, selected by SNI; append :DOMAIN,DOMAIN to override the names in the certificate',
    sni
  ),
  'tls-cipher-suites': list(
    [], 'TLS cipher suites, up to TLS 1.2 and TLS 1.3; empty uses the runtime defaults', cipherProblem
  ),
  'tls-min-version': choice(['', ...TLS_VERSIONS], '', 'minimum TLS version; blank is VersionTLS12'),
  'tls-curve-preferences': list(
    [], 'groups of the TLS key exchange by their IANA numbers, such as 23,29; empty uses the runtime defaults',
    curveProblem
  ),
  'strict-transport-security-directives': list(
    [],
    'directives of the Strict-Transport-Security (HSTS) header: max-age=SECONDS, includeSubDomains, preload; empty ' +
      'sends none',
    hstsProblem
  ),
  'cors-allowed-origins': list([], 'regular expressions (RE2) of allowed CORS origins; empty disables CORS'),
  'external-hostname': text('', 'host name to use in generated external URLs', hostnameProblem),
  'permit-address-sharing': bool(false, 'set SO_REUSEADDR on the listener, as this runtime always does'),
  'permit-port-sharing': bool(false, 'set SO_REUSEPORT on the listener, so that several processes can share the port'),
  'serving-processes': text(
    '1', 'processes that serve, behind one port: a number or auto, the cores of the machine less one', processesProblem
  ),
  'disable-http2-serving': bool(false, 'serve HTTP/1.1 only'),
  'http2-max-streams-per-connection': int(
    0, 'maximum concurrent streams per HTTP/2 connection; 0 is 250, and 100 from release 1.29 on',
    { min: 0, max: 2 ** 31 - 1 }
  )
}
