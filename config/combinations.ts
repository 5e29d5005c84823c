/** Validates combinations of flags. */
import { goneWith } from '../admission/catalogue.js'
import { publishesStorageVersions } from '../schemas/api/internal/published.js'
import { storageVersions } from '../schemas/api/internal/storageversions.js'
import { RELEASE_NAME, RELEASES } from '../schemas/meta/release.js'
import { readerProblem } from './emulated-release.js'
import { gateSettings, mixedForms, settingsProblem } from './feature-gates.js'
import { isOn } from './gates-of.js'
import { FlagError, showDuration } from './flag.js'
import { MIN_TOKEN_EXPIRATION } from './flags/authentication.js'
import type { FlagName, Values } from './flags/index.js'
import type { Parsed } from './command-line.js'
import { idleAuditFlags } from './unused-audit-flags.js'
import { PUBLIC_PROTOBUF_TYPE } from '../schemas/public-names.js'
import { disabledApis } from './runtime-config.js'
import { processesProblem, servingProcesses } from './serving-processes.js'
import { belongsToTls13 } from './tls-names.js'

/** Flags that require each other. */
const TOGETHER: ReadonlyArray<readonly [FlagName, FlagName]> = [
  ['tls-cert-file', 'tls-private-key-file'],
  ['etcd-certfile', 'etcd-keyfile'],
  ['oidc-issuer-url', 'oidc-client-id'],
  ['proxy-client-cert-file', 'proxy-client-key-file'],
  ['node-agent-client-certificate', 'node-agent-client-key']
]

/** The first flag requires the second. */
const NEEDS: ReadonlyArray<readonly [FlagName, FlagName]> = [
  ['etcd-servers-overrides', 'etcd-servers'],
  ['etcd-cafile', 'etcd-servers'],
  ['etcd-certfile', 'etcd-servers'],
  ['storage-backend', 'etcd-servers'],
  ['requestheader-client-ca-file', 'requestheader-username-headers'],
  ['requestheader-username-headers', 'requestheader-client-ca-file'],
  ['requestheader-group-headers', 'requestheader-client-ca-file'],
  ['requestheader-extra-headers-prefix', 'requestheader-client-ca-file'],
  ['requestheader-uid-headers', 'requestheader-client-ca-file'],
  ['requestheader-allowed-names', 'requestheader-client-ca-file'],
  ['service-account-signing-key-file', 'service-account-key-file'],
  ['service-account-signing-key-file', 'service-account-issuer'],
  ['service-account-signing-endpoint', 'service-account-issuer'],
  ['service-account-jwks-uri', 'service-account-issuer'],
  ['cloud-config', 'cloud-provider']
]

const isSet = (value: Values[FlagName]): boolean => Array.isArray(value) ? value.length > 0 : value !== ''

type Refuse = (name: FlagName, problem: string) => never

/** @throws FlagError of the first combination that is wrong */
export function checkCombinations ({ values, given }: Parsed): void {
  const refuse: Refuse = (name, problem) => { throw new FlagError(name, given.get(name), problem) }
  checkPairs(values, refuse)
  checkEmbeddedStore({ values, given }, refuse)
  if (values['garbage-collection'] === 'on' && !values['enable-garbage-collector']) {
    refuse('garbage-collection', 'needs --enable-garbage-collector, without which no deletion waits for a collector')
  }
  if (values['data-dir'] === '') refuse('data-dir', 'must be a folder')
  if (values['cert-dir'] === '' && values['tls-cert-file'] === '') {
    refuse('cert-dir', 'must be a folder, or give --tls-cert-file and --tls-private-key-file')
  }
  checkAdmissionPlugins(values, refuse)
  checkStores(values, refuse)
  checkProcesses(values, refuse)
  checkCipherSuites(values, refuse)
  if (values['authorization-config'] === '') checkModes(values, refuse)

  checkServiceAccounts(values, refuse)
  const { from, to } = values['service-node-port-range']
  const port = values['orch-service-node-port']
  if (port !== 0 && (port < from || port > to)) {
    refuse('orch-service-node-port', `must be within --service-node-port-range ${from}-${to}`)
  }
  const settings = gateSettings(values['feature-gates'])
  const gates = mixedForms(values['feature-gates']) ?? settingsProblem(settings, values['emulated-version'])
  if (gates !== undefined) refuse('feature-gates', gates)
  checkEmulation(values, refuse)
  checkPublicNames(values, refuse)
  if (isSet(values['tracing-config-file']) && !isOn(values, 'APIServerTracing')) {
    refuse('tracing-config-file', 'needs --feature-gates=APIServerTracing=true beside it')
  }
  const alpha = values['log-text-split-stream']
    ? 'log-text-split-stream'
    : values['log-text-info-buffer-size'] === '0' ? undefined : 'log-text-info-buffer-size'
  if (alpha !== undefined && !(isOn(values, 'LoggingAlphaOptions') && values['logging-format'] === 'text')) {
    refuse(alpha, 'needs --feature-gates=LoggingAlphaOptions=true and --logging-format=text beside it')
  }
  if (isSet(values['requestheader-uid-headers']) && settings['RemoteRequestHeaderUID'] === false) {
    refuse('requestheader-uid-headers', 'needs the feature gate RemoteRequestHeaderUID; leave one out')
  }
  if (values['encryption-provider-config-automatic-reload'] && values['encryption-provider-config'] === '') {
    refuse('encryption-provider-config-automatic-reload', 'needs --encryption-provider-config beside it')
  }
  if (values['permit-port-sharing'] && !canSharePorts()) {
    refuse(
      'permit-port-sharing',
      `needs Node.js 22.12 or newer on Linux or BSD, this is ${process.version} on ${process.platform}`
    )
  }
}

function checkServiceAccounts (values: Values, refuse: Refuse): void {
  const expiration = values['service-account-max-token-expiration']
  if (expiration > 0 && expiration < MIN_TOKEN_EXPIRATION) {
    refuse('service-account-max-token-expiration', `must be 0 or at least ${showDuration(MIN_TOKEN_EXPIRATION)}`)
  }
  const issuers = values['service-account-issuer']
  const twice = issuers.find((issuer, index) => issuers.indexOf(issuer) !== index)
  if (twice !== undefined) refuse('service-account-issuer', `has ${twice} twice; leave one out`)
  const keyFile = (['service-account-key-file', 'service-account-signing-key-file'] as const)
    .find(flag => isSet(values[flag]))
  if (keyFile !== undefined && isSet(values['service-account-signing-endpoint'])) {
    refuse(keyFile, 'excludes --service-account-signing-endpoint, whose service has the keys; leave one out')
  }
}

function checkPairs (values: Values, refuse: Refuse): void {
  for (const [one, other] of TOGETHER) {
    if (isSet(values[one]) && !isSet(values[other])) refuse(one, `needs --${other} beside it`)
    if (isSet(values[other]) && !isSet(values[one])) refuse(other, `needs --${one} beside it`)
  }
  for (const [one, other] of NEEDS) {
    if (isSet(values[one]) && !isSet(values[other])) refuse(one, `needs --${other} beside it`)
  }
}

function checkEmbeddedStore ({ values, given }: Parsed, refuse: Refuse): void {
  // With --local the folder has the administrator and certificates.
  if (given.has('data-dir') && values['etcd-servers'].length > 0 && !values.local) {
    refuse('data-dir', 'is for the embedded store; leave it or --etcd-servers out')
  }
  if (given.has('data-dir-min-free') && values['etcd-servers'].length > 0) {
    refuse('data-dir-min-free', 'is for the embedded store; leave it or --etcd-servers out')
  }
  if (values['history-retention'] !== '' && values['etcd-servers'].length > 0) {
    refuse(
      'history-retention',
      'is for the embedded store; over etcd set --etcd-compaction-interval, or leave --etcd-servers out'
    )
  }
  if (values['history-retention'] !== '' && given.has('etcd-compaction-interval')) {
    refuse('history-retention', 'says itself what is kept; leave --etcd-compaction-interval out')
  }
}

function checkAdmissionPlugins (values: Values, refuse: Refuse): void {
  const twice = values['enable-admission-plugins'].find(plugin => values['disable-admission-plugins'].includes(plugin))
  if (twice !== undefined) {
    refuse('enable-admission-plugins', `${twice} is in --disable-admission-plugins too; take it out of one`)
  }

  for (const flag of ['enable-admission-plugins', 'disable-admission-plugins'] as const) {
    for (const name of values[flag]) {
      const gone = goneWith(name)
      if (gone !== undefined && isOn(values, gone)) refuse(flag, `${name} went with release ${gone}; leave it out`)
    }
  }
}

function checkCipherSuites (values: Values, refuse: Refuse): void {
  const modern = values['tls-min-version'] === 'VersionTLS13'
    ? values['tls-cipher-suites'].find(name => !belongsToTls13(name))
    : undefined
  if (modern !== undefined) {
    refuse(
      'tls-cipher-suites',
      `${modern} is no suite of TLS 1.3, the oldest version that --tls-min-version allows; leave it out`
    )
  }
}

/** @see ./later-apis.ts, which refuses later APIs */
function checkEmulation (values: Values, refuse: Refuse): void {
  const { 'emulated-version': release, 'min-compatibility-version': reader } = values
  const problem = reader === '' ? undefined : readerProblem(reader, release)
  if (problem !== undefined) refuse('min-compatibility-version', problem)
  const newest = RELEASES.at(-1)
  for (const flag of ['emulation-forward-compatible', 'runtime-config-emulation-forward-compatible'] as const) {
    if (values[flag] && release === newest) {
      refuse(flag, `is for --emulated-version of an earlier release than ${newest}; leave it out`)
    }
  }
}

/** What only clients with public names know: their audit events, and their name of protobuf. */
function checkPublicNames (values: Values, refuse: Refuse): void {
  for (const flag of ['audit-log-version', 'audit-webhook-version'] as const) {
    if (values[flag] !== 'audit.orch.io/v1' && !values['compat-names']) refuse(flag, 'needs --compat-names beside it')
  }
  if (values['storage-media-type'] === PUBLIC_PROTOBUF_TYPE && !values['compat-names']) {
    refuse('storage-media-type', 'needs --compat-names beside it')
  }
}

function checkModes (values: Values, refuse: Refuse): void {
  const modes = values['authorization-mode']
  if (modes.length === 0) refuse('authorization-mode', 'needs at least one mode')
  const repeated = modes.find((mode, index) => modes.indexOf(mode) !== index)
  if (repeated !== undefined) refuse('authorization-mode', `has ${repeated} twice; leave one out`)
  for (const [mode, file] of [
    ['ABAC', 'authorization-policy-file'], ['Webhook', 'authorization-webhook-config-file']
  ] as const) {
    if (modes.includes(mode) && !isSet(values[file])) refuse('authorization-mode', `${mode} needs --${file}`)
    if (!modes.includes(mode) && isSet(values[file])) refuse(file, `needs ${mode} in --authorization-mode`)
  }
}

/** Refuses flags that do not work with several processes. */
function checkProcesses (values: Values, refuse: Refuse): void {
  if (values['serving-processes'] === '') refuse('serving-processes', processesProblem('') ?? '')
  const count = servingProcesses(values)
  if (count === 1) return
  for (const name of ['max-requests-inflight', 'max-mutating-requests-inflight'] as const) {
    if (values[name] > 0 && values[name] < count) {
      refuse(
        'serving-processes',
        `is ${count} processes, which share --${name}=${values[name]}; make that at least ${count}, or 0 for no limit`
      )
    }
  }
  if (isOn(values, 'StorageVersionAPI')) {
    refuse(
      'serving-processes',
      'cannot be combined with --feature-gates=StorageVersionAPI=true, which holds back writes until one process has ' +
        'published for all; leave one out'
    )
  }
}

export interface StoreOverride { /** `group/resource` */ readonly resource: string, readonly servers: string[] }

/** Parses `group/resource#server;server`, which the flag has validated. */
export const storeOverrides = (texts: readonly string[]): StoreOverride[] => texts.map(override => {
  const at = override.indexOf('#')
  return { resource: override.slice(0, at), servers: storeServers(override.slice(at + 1).split(';')) }
})

/** Removes trailing slashes. */
export const storeServers = (servers: readonly string[]): string[] => servers.map(server => server.replace(/\/$/, ''))

/** All servers of a cluster must use the same scheme; certificates require https. */
function checkStores (values: Values, refuse: Refuse): void {
  const overrides = storeOverrides(values['etcd-servers-overrides'])
  const clusters = [
    ['etcd-servers', values['etcd-servers']] as const,
    ...overrides.map(({ servers }) => ['etcd-servers-overrides', servers] as const)
  ]
  const isSecure = (server: string): boolean => server.startsWith('https:')
  for (const [flag, servers] of clusters) {
    if (servers.some(isSecure) && !servers.every(isSecure)) {
      refuse(flag, 'the servers of one cluster are either all https or all http')
    }
  }
  const repeated = overrides.find(({ resource }, index) =>
    overrides.findIndex(other => other.resource === resource) !== index)
  if (repeated !== undefined) refuse('etcd-servers-overrides', `has ${repeated.resource} twice; leave one out`)
  if (clusters.some(([, servers]) => servers.some(isSecure))) return
  for (const flag of ['etcd-cafile', 'etcd-certfile'] as const) {
    if (isSet(values[flag])) refuse(flag, 'is for servers with https, and all in --etcd-servers have http')
  }
}

/** True if there are seats for priority and fairness. */
export const hasLimits = (values: Values): boolean =>
  values['max-requests-inflight'] + values['max-mutating-requests-inflight'] > 0

function idleFairness ({ values }: Parsed): string[] {
  if (hasLimits(values) || !values['enable-priority-and-fairness'] || !isOn(values, 'APIPriorityAndFairness')) return []
  return [
    '--enable-priority-and-fairness has no effect with --max-requests-inflight=0 and ' +
      '--max-mutating-requests-inflight=0: there is nothing to share out, and requests are not limited'
  ]
}

function idleStorageVersions ({ values, given }: Parsed): string[] {
  const disabled = new Set(disabledApis(values['runtime-config'], given.get('runtime-config')))
  if (!isOn(values, 'StorageVersionAPI') ||
    publishesStorageVersions({ enabled: gate => isOn(values, gate) }, disabled)) return []
  const { stored: { apiVersion } } = storageVersions
  return [
    `--feature-gates=StorageVersionAPI=true has no effect without --${isOn(values, 'APIServerIdentity')
      ? `runtime-config=${apiVersion}=true`
      : 'feature-gates=APIServerIdentity=true'}`
  ]
}

/** Warnings about flags without effect because of other flags. */
export function idleFlags (parsed: Parsed): string[] {
  const { values, given } = parsed
  const sizes: FlagName[] = values['watch-cache']
    ? []
    : ['default-watch-cache-size', 'encoded-objects-cache-size', 'watch-cache-sizes']
  return [
    ...sizes.filter(name => given.has(name)).map(name => `--${name} has no effect with --watch-cache=false`),
    ...idleRefinements(parsed), ...idleCloudFlags(parsed), ...idleFairness(parsed), ...idleStorageVersions(parsed),
    ...idleAuditFlags(parsed)
  ]
}

/** Flags that only refine another flag. */
const REFINEMENTS: ReadonlyArray<readonly [
  isEnabled: (values: Values) => boolean, flags: readonly FlagName[], without: string
]> = [
  [values => values['authentication-token-webhook-config-file'] !== '', [
    'authentication-token-webhook-cache-ttl', 'authentication-token-webhook-version'
  ], '--authentication-token-webhook-config-file'],
  [values => values['authorization-webhook-config-file'] !== '', [
    'authorization-webhook-cache-authorized-ttl', 'authorization-webhook-cache-unauthorized-ttl',
    'authorization-webhook-version'
  ], '--authorization-webhook-config-file'],
  [values =>
    values['oidc-issuer-url'] !== '', [
    'oidc-username-claim', 'oidc-username-prefix', 'oidc-groups-claim', 'oidc-groups-prefix', 'oidc-required-claim',
    'oidc-ca-file', 'oidc-signing-algs'
  ], '--oidc-issuer-url'],
  [values => values.profiling, ['contention-profiling', 'debug-socket-path'], '--profiling'],
  [values => values['log-text-split-stream'], ['log-text-info-buffer-size'], '--log-text-split-stream=true'],
  [values => values['emulated-version'] !== RELEASE_NAME, ['etcd-readycheck-timeout'], '--emulated-version=1.36'],
  [values => !values['disable-admission-plugins'].includes('DefaultTolerationSeconds'), [
    'default-not-ready-toleration-seconds', 'default-unreachable-toleration-seconds'
  ], 'the admission plugin DefaultTolerationSeconds'],
  [values =>
    values['endpoint-reconciler-type'] ===
      'master-count', ['apiserver-count'], '--endpoint-reconciler-type=master-count'],
  [values => isOn(values, 'APIServerIdentity'), [
    'identity-lease-duration-seconds', 'identity-lease-renew-interval-seconds'
  ], '--feature-gates=APIServerIdentity=true']
]

function idleRefinements ({ values, given }: Parsed): string[] {
  return REFINEMENTS.flatMap(([isEnabled, flags, without]) => isEnabled(values)
    ? []
    : flags.filter(name => given.has(name)).map(name => `--${name} has no effect without ${without}`))
}

/**
 * Accepted because command lines of existing clusters contain them. They have no effect in any API server of release
 * 1.24 without a built-in cloud provider.
 */
const FOR_CLOUDS: ReadonlyArray<readonly [flag: FlagName, by: string]> = [
  ['cloud-config', 'the cloud controller manager reads this file'],
  ['cloud-provider-gce-l7lb-src-cidrs', 'the cloud controller manager opens the firewall'],
  ['azure-container-registry-config', 'node agents pull images']
]

const idleCloudFlags = ({ given }: Parsed): string[] =>
  FOR_CLOUDS.filter(([flag]) => given.has(flag)).map(([flag, by]) => `--${flag} has no effect here: ${by}`)

/** True if Node's `reusePort` option works here. */
function canSharePorts (): boolean {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  return (major > 23 || (major === 23 && minor >= 1) || (major === 22 && minor >= 12)) &&
    !['win32', 'darwin'].includes(process.platform)
}
