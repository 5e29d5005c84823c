import t from 'tap'
import type { Flag } from '../../config/flag.js'
import { FLAGS, MOST_USED, SECTIONS } from '../../config/flags/index.js'
import { helpText, versionText } from '../../config/command-line.js'

/** Every flag of the interface; the two families of cloud flags with upstream's clouds. */
const INTERFACE = `
  admission-control-config-file advertise-address allow-metric-labels allow-privileged anonymous-auth
  api-audiences apiserver-count audit-log-batch-buffer-size audit-log-batch-max-size audit-log-batch-max-wait
  audit-log-batch-throttle-burst audit-log-batch-throttle-enable audit-log-batch-throttle-qps audit-log-compress
  audit-log-format audit-log-maxage audit-log-maxbackup audit-log-maxsize audit-log-mode audit-log-path
  audit-log-truncate-enabled audit-log-truncate-max-batch-size audit-log-truncate-max-event-size
  audit-log-version audit-policy-file audit-webhook-batch-buffer-size audit-webhook-batch-max-size
  audit-webhook-batch-max-wait audit-webhook-batch-throttle-burst audit-webhook-batch-throttle-enable
  audit-webhook-batch-throttle-qps audit-webhook-config-file audit-webhook-initial-backoff audit-webhook-mode
  audit-webhook-truncate-enabled audit-webhook-truncate-max-batch-size audit-webhook-truncate-max-event-size
  audit-webhook-version authentication-token-webhook-cache-ttl authentication-token-webhook-config-file
  authentication-token-webhook-version authorization-mode authorization-policy-file
  authorization-webhook-cache-authorized-ttl authorization-webhook-cache-unauthorized-ttl
  authorization-webhook-config-file authorization-webhook-version azure-container-registry-config bind-address
  cert-dir client-ca-file cloud-config cloud-provider cloud-provider-gce-l7lb-src-cidrs contention-profiling
  cors-allowed-origins default-not-ready-toleration-seconds default-unreachable-toleration-seconds
  default-watch-cache-size delete-collection-workers disable-admission-plugins disabled-metrics
  egress-selector-config-file enable-admission-plugins enable-aggregator-routing enable-bootstrap-token-auth
  enable-garbage-collector enable-priority-and-fairness encryption-provider-config endpoint-reconciler-type
  etcd-cafile etcd-certfile etcd-compaction-interval etcd-count-metric-poll-period etcd-db-metric-poll-interval
  etcd-healthcheck-timeout etcd-keyfile etcd-prefix etcd-servers etcd-servers-overrides event-ttl
  experimental-logging-sanitization external-hostname feature-gates goaway-chance help
  http2-max-streams-per-connection identity-lease-duration-seconds identity-lease-renew-interval-seconds
  lease-reuse-duration-seconds livez-grace-period log-flush-frequency logging-format master-service-namespace
  max-connection-bytes-per-sec max-mutating-requests-inflight max-requests-inflight min-request-timeout
  node-agent-certificate-authority node-agent-client-certificate node-agent-client-key
  node-agent-preferred-address-types node-agent-timeout oidc-ca-file oidc-client-id oidc-groups-claim
  oidc-groups-prefix oidc-issuer-url oidc-required-claim oidc-signing-algs oidc-username-claim
  oidc-username-prefix orch-service-node-port permit-address-sharing permit-port-sharing profiling
  proxy-client-cert-file proxy-client-key-file request-timeout requestheader-allowed-names
  requestheader-client-ca-file requestheader-extra-headers-prefix requestheader-group-headers
  requestheader-username-headers runtime-config secure-port service-account-extend-token-expiration
  service-account-issuer service-account-jwks-uri service-account-key-file service-account-lookup
  service-account-max-token-expiration service-account-signing-key-file service-cluster-ip-range
  service-node-port-range show-hidden-metrics-for-version shutdown-delay-duration shutdown-send-retry-after
  storage-backend storage-media-type strict-transport-security-directives tls-cert-file tls-cipher-suites
  tls-min-version tls-private-key-file tls-sni-cert-key token-auth-file tracing-config-file v version vmodule
  watch-cache watch-cache-sizes`

/** Flags that only this product has. */
const ADDED = [
  'compat-names', 'data-dir', 'data-dir-min-free', 'encoded-objects-cache-size', 'garbage-collection',
  'history-retention', 'local', 'serving-processes'
]

/** Flags of later releases, which an earlier one that is emulated has too. */
const LATER = `
  allow-metric-labels-manifest authentication-config authorization-config debug-socket-path disable-http2-serving
  emulated-version emulation-forward-compatible encryption-provider-config-automatic-reload etcd-readycheck-timeout
  log-text-info-buffer-size log-text-split-stream min-compatibility-version service-account-signing-endpoint
  tls-curve-preferences requestheader-uid-headers runtime-config-emulation-forward-compatible
  shutdown-watch-termination-grace-period storage-initialization-timeout`

t.test('every flag of the interface is declared, and no others but those of later releases and our own', async t => {
  t.strictSame(Object.keys(FLAGS).sort(), [...`${INTERFACE} ${LATER}`.trim().split(/\s+/), ...ADDED].sort())
})

t.test('a flag is declared in one section', async t => {
  const names = Object.values(SECTIONS).flatMap(section => Object.keys(section))
  t.equal(new Set(names).size, names.length)
  t.strictSame(names.sort(), Object.keys(FLAGS).sort())
})

t.test('every flag has a help text, and its printed default parses to its default', async t => {
  for (const [name, declared] of Object.entries(FLAGS)) {
    const flag = declared as Flag<unknown>
    t.match(flag.help, /^\w.{5,}/, name)
    if (flag.defaultText !== '') t.strictSame(flag.parse(flag.defaultText, undefined), flag.default, name)
  }
})

/** Defaults as the interface's tables write them. */
const DEFAULTS = `
  allow-privileged false
  anonymous-auth true
  apiserver-count 1
  audit-log-batch-buffer-size 10000
  audit-log-batch-max-size 1
  audit-log-format json
  audit-log-mode blocking
  audit-log-truncate-max-batch-size 10485760
  audit-log-truncate-max-event-size 102400
  audit-log-version audit.orch.io/v1
  audit-webhook-batch-buffer-size 10000
  audit-webhook-batch-max-size 400
  audit-webhook-batch-max-wait 30s
  audit-webhook-batch-throttle-burst 15
  audit-webhook-batch-throttle-enable true
  audit-webhook-batch-throttle-qps 10
  audit-webhook-initial-backoff 10s
  audit-webhook-mode batch
  audit-webhook-truncate-max-batch-size 10485760
  audit-webhook-truncate-max-event-size 102400
  audit-webhook-version audit.orch.io/v1
  authentication-token-webhook-cache-ttl 2m0s
  authentication-token-webhook-version v1beta1
  authorization-mode AlwaysAllow
  authorization-webhook-cache-authorized-ttl 5m0s
  authorization-webhook-cache-unauthorized-ttl 30s
  authorization-webhook-version v1beta1
  bind-address 0.0.0.0
  cert-dir /var/run/orch
  default-not-ready-toleration-seconds 300
  default-unreachable-toleration-seconds 300
  default-watch-cache-size 100
  delete-collection-workers 1
  enable-garbage-collector true
  enable-priority-and-fairness true
  endpoint-reconciler-type lease
  etcd-compaction-interval 5m0s
  etcd-count-metric-poll-period 1m0s
  etcd-db-metric-poll-interval 30s
  etcd-healthcheck-timeout 2s
  etcd-prefix /registry
  event-ttl 1h0m0s
  identity-lease-duration-seconds 3600
  identity-lease-renew-interval-seconds 10
  lease-reuse-duration-seconds 60
  log-flush-frequency 5s
  logging-format text
  master-service-namespace default
  max-mutating-requests-inflight 200
  max-requests-inflight 400
  min-request-timeout 1800
  node-agent-preferred-address-types Hostname,InternalDNS,InternalIP,ExternalDNS,ExternalIP
  node-agent-timeout 5s
  oidc-signing-algs RS256
  oidc-username-claim sub
  orch-service-node-port 0
  permit-address-sharing false
  permit-port-sharing false
  profiling true
  request-timeout 1m0s
  secure-port 6443
  service-account-extend-token-expiration true
  service-account-lookup true
  service-node-port-range 30000-32767
  storage-media-type application/vnd.orch.protobuf
  watch-cache true`

/** Flags whose default the tables leave blank: empty, false or 0. */
const BLANK = `
  admission-control-config-file advertise-address audit-log-batch-max-wait audit-log-compress audit-log-path
  audit-log-truncate-enabled audit-policy-file audit-webhook-config-file audit-webhook-truncate-enabled
  authentication-token-webhook-config-file authorization-policy-file authorization-webhook-config-file
  client-ca-file contention-profiling cors-allowed-origins disable-admission-plugins disabled-metrics
  egress-selector-config-file enable-admission-plugins enable-aggregator-routing enable-bootstrap-token-auth
  encryption-provider-config etcd-servers etcd-servers-overrides experimental-logging-sanitization
  external-hostname oidc-client-id oidc-groups-claim oidc-groups-prefix oidc-issuer-url oidc-username-prefix
  requestheader-allowed-names requestheader-client-ca-file requestheader-extra-headers-prefix
  requestheader-group-headers requestheader-username-headers service-account-issuer service-account-jwks-uri
  service-account-max-token-expiration service-account-signing-key-file service-cluster-ip-range
  show-hidden-metrics-for-version storage-backend strict-transport-security-directives tls-cert-file
  tls-min-version tls-private-key-file tls-sni-cert-key token-auth-file tracing-config-file v vmodule`

t.test('defaults are those of the interface', async t => {
  const shown = new Map(Object.entries(FLAGS).map(([name, flag]) => [name, flag.defaultText]))
  for (const row of DEFAULTS.trim().split('\n')) {
    const [name = '', value = ''] = row.trim().split(' ')
    t.equal(shown.get(name), value, name)
  }
  for (const name of BLANK.trim().split(/\s+/)) {
    t.ok(['', 'false', '0', '0s'].includes(shown.get(name) ?? 'missing'), name)
  }
})

t.test('--help lists each flag under its section with its default', async t => {
  const help = helpText()
  for (const name of Object.keys(FLAGS)) t.match(help, new RegExp(`^ +(?:-\\w, )?--${name}[[ \\n]`, 'm'), name)
  for (const section of Object.keys(SECTIONS)) t.match(help, `\n${section}:\n`)
  const begin = help.slice(0, help.indexOf('General:'))
  t.equal(Object.keys(MOST_USED).length, 10)
  for (const name of Object.keys(MOST_USED)) t.match(begin, new RegExp(`^  --${name} +[\\w:]`, 'm'), name)
  t.match(help, /--secure-port int\n.*\(default 6443\)/)
  t.match(help, /--etcd-compaction-interval duration\n[^-]*\(default 5m0s\)/)
  t.ok(help.split('\n').every(line => line.length <= 140))
  t.notMatch(help, /\(default (?:\[[^\]]|\{[^}]|undefined|\))/, 'no default is an internal form of a list or map')
  const entries = help.slice(begin.length).trimEnd().split(/\n(?=(?: {2}-\w, | {6})--)|\n\n/)
  const entryOf = (name: string): string =>
    entries.find(entry => new RegExp(`^ +(?:-\\w, )?--${name}[[ \\n]`).test(entry))?.replace(/\s+/g, ' ') ?? ''
  for (const [name, flag] of Object.entries(FLAGS)) {
    const initial = flag.emptyText ??
      (flag.default instanceof Map
        ? '{}'
        : Array.isArray(flag.default) && flag.default.length === 0 ? '[]' : flag.defaultText)
    if (initial === '') t.equal(flag.default, '', `${name} has no default but a blank text`)
    else t.ok(entryOf(name).endsWith(` (default ${initial})`), name)
  }
  t.ok(entryOf('allow-metric-labels').endsWith(' (default [])'), 'as upstream')
})

t.test('--version names the package and the release of the interface', async t => {
  t.match(versionText(), /^orch-apiserver \d+\.\d+\.\d+, serves the interface of release 1\.24$/)
})
