import t from 'tap'
import { readFileSync } from 'node:fs'
import type { Flag } from '../../config/flag.js'
import { FLAGS, SECTIONS } from '../../config/flags/index.js'
import { helpText, versionText } from '../../config/help.js'

/** Every flag of the interface; the two families of cloud flags by the clouds of the convention. */
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

/** Ours. */
const ADDED = ['data-dir']

t.test('every flag of the interface is declared, and none beside but our own', async t => {
  t.strictSame(Object.keys(FLAGS).sort(), [...INTERFACE.trim().split(/\s+/), ...ADDED].sort())
})

t.test('a flag is declared in one section', async t => {
  const names = Object.values(SECTIONS).flatMap(section => Object.keys(section))
  t.equal(new Set(names).size, names.length)
  t.strictSame(names.sort(), Object.keys(FLAGS).sort())
})

t.test('every flag has a help text, and its shown default parses to its default', async t => {
  for (const [name, declared] of Object.entries(FLAGS)) {
    const flag = declared as Flag<unknown>
    t.match(flag.help, /^\w.{5,}/, name)
    if (flag.shown !== '') t.strictSame(flag.parse(flag.shown, undefined), flag.default, name)
  }
})

t.test('defaults are those of the interface', async t => {
  const rows = readTables()
  if (rows.size > 0) t.ok(rows.size > 120, 'the tables were read')
  if (rows.size === 0) t.comment('the interface document is not at hand: names and sections only')
  for (const [name, written] of rows) {
    const flag = Object.entries(FLAGS).find(([known]) => known === name)?.[1] as Flag<unknown> | undefined
    t.ok(flag, name)
    if (flag === undefined || BY_WORD.has(name)) continue
    t.equal(flag.shown, written === '' ? { bool: 'false', int: '0', float: '0' }[flag.type] ?? '' : written, name)
  }
})

/** Rows whose default is told in words. */
const BY_WORD = new Set(['tls-cipher-suites', 'feature-gates', 'runtime-config', 'api-audiences', 'oidc-ca-file', 'service-account-key-file', 'allow-metric-labels'])

/** Name to default as the interface's tables with a Default column have it. */
function readTables (): Map<string, string> {
  const found = new Map<string, string>()
  let text: string
  try {
    text = readFileSync(new URL('../../../../shared/spec/interface.md', import.meta.url), 'utf8')
  } catch {
    return found
  }
  for (const line of text.split('\n')) {
    const cells = line.split('|').map(cell => cell.trim())
    const name = /^(?:-v, )?--([a-z0-9-]+)$/.exec(cells[1] ?? '')?.[1]
    const limit = /^(\S+)(?: seconds)? default$/.exec(cells[2] ?? '')?.[1]
    if (name === undefined || name === 'help' || name === 'version') continue
    if (limit === undefined && (cells.length < 5 || !/^(?:string|strings|int|bool|float|duration|cidrs|N1-N2|stringToString|key=.* pairs|pattern=N,...)$/.test(cells[2] ?? ''))) continue
    const written = limit ?? cells[3] ?? ''
    found.set(name, ['empty', 'blank', 'none'].includes(written) ? '' : written)
  }
  return found
}

t.test('--help shows each flag under its section with its default', async t => {
  const help = helpText()
  for (const name of Object.keys(FLAGS)) t.match(help, new RegExp(`^ +(?:-\\w, )?--${name}[[ \\n]`, 'm'), name)
  for (const section of Object.keys(SECTIONS)) t.match(help, `\n${section}:\n`)
  t.match(help, /--secure-port int\n.*\(default 6443\)/)
  t.match(help, /--etcd-compaction-interval duration\n[^-]*\(default 5m0s\)/)
  t.ok(help.split('\n').every(line => line.length <= 140))
})

t.test('--version names the package and the release of the interface', async t => {
  t.match(versionText(), /^orch-apiserver \d+\.\d+\.\d+, serves the interface of release 1\.24$/)
})
