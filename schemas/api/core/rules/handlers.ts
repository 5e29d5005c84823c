/** Validation of probes and lifecycle hooks. */
import { isOn } from '../../../gates.js'
import { checkName, forbidden, invalid, notNegative, notSupported, required } from '../../../rules/findings.js'
import type { Report } from '../../../language/declare.js'
import { headerName } from '../../../names.js'
import type { HTTPGetAction, Lifecycle, LifecycleHandler, Probe, ProbeHandler } from '../handlers.js'
import type { PodSpec } from '../pod-spec.js'
import { checkPort, checkPortNumber } from './ports.js'
import { SIGNALS, SIGNALS_OF_WINDOWS } from './signals.js'

type Check = (at: string, report: Report) => void

/** Exactly one handler. Further ones are forbidden and not validated. */
export function validateHandler (
  { exec, httpGet, tcpSocket, ...others }: ProbeHandler | LifecycleHandler, at: string, report: Report
): void {
  const grpc = 'grpc' in others ? others.grpc : undefined
  const sleep = 'sleep' in others ? others.sleep : undefined
  const set: Array<[field: string, check: Check]> = []
  if (exec !== undefined) {
    set.push(['exec', (at, report) => { if ((exec.command ?? []).length === 0) required(report, `${at}.command`) }])
  }
  if (httpGet !== undefined) set.push(['httpGet', (at, report) => { checkHttpGet(httpGet, at, report) }])
  if (tcpSocket !== undefined) {
    set.push(['tcpSocket', (at, report) => { checkPort(tcpSocket.port, `${at}.port`, report) }])
  }
  if (grpc !== undefined) {
    set.push([
      // as upstream
      isOn(report, 'PodFaultsNamePlaces') ? 'grpc' : 'gRPC',
      (at, report) => { checkPortNumber(grpc.port, `${at}.port`, report) }
    ])
  }
  if (sleep !== undefined) set.push(['sleep', () => {}]) // by the grace period of the pod
  set.forEach(([field, check], index) => {
    if (index === 0) check(`${at}.${field}`, report)
    else forbidden(report, `${at}.${field}`, 'may not specify more than 1 handler type')
  })
  if (set.length === 0) required(report, at, 'must specify a handler type')
}

/** How long the hooks of a container wait, and what stops it. */
export function checkHooks (
  lifecycle: Lifecycle = {}, { terminationGracePeriodSeconds: grace = 0, os }: PodSpec, at: string, report: Report
): void {
  for (const hook of ['postStart', 'preStop'] as const) {
    const seconds = lifecycle[hook]?.sleep?.seconds
    if (seconds !== undefined && (seconds < 0 || seconds > grace)) {
      invalid(
        report, `${at}.${hook}.sleep`, seconds,
        `must be non-negative and less than terminationGracePeriodSeconds (${grace})`
      )
    }
  }
  const { stopSignal } = lifecycle
  if (stopSignal === undefined) return
  const field = `${at}.stopSignal`
  if (os === undefined) return forbidden(report, field, 'may not be set for containers with empty `spec.os.name`')
  const supported = os.name === 'windows' ? SIGNALS_OF_WINDOWS : SIGNALS
  if (!supported.includes(stopSignal)) notSupported(report, field, stopSignal, supported)
}

const SCHEMES = ['HTTP', 'HTTPS']

function checkHttpGet ({ port, scheme = '', httpHeaders = [] }: HTTPGetAction, at: string, report: Report): void {
  checkPort(port, `${at}.port`, report)
  if (!SCHEMES.includes(scheme)) notSupported(report, `${at}.scheme`, scheme, SCHEMES)
  for (const { name } of httpHeaders) checkName(report, `${at}.httpHeaders`, name, headerName)
}

export function validateProbe (probe: Probe, at: string, report: Report): void {
  for (const field of [
    'initialDelaySeconds', 'timeoutSeconds', 'periodSeconds', 'successThreshold', 'failureThreshold'
  ] as const) {
    notNegative(report, `${at}.${field}`, probe[field])
  }
  const { terminationGracePeriodSeconds: grace } = probe
  if (grace !== undefined && grace <= 0) {
    invalid(report, `${at}.terminationGracePeriodSeconds`, grace, 'must be greater than 0')
  }
}

interface Probes {
  readonly livenessProbe?: Probe | undefined, readonly readinessProbe?: Probe | undefined,
  readonly startupProbe?: Probe | undefined
}

/** Liveness and startup probes need a success threshold of 1; a readiness probe has no grace period. */
export function checkProbes (container: Probes, at: string, report: Report): void {
  for (const field of ['livenessProbe', 'startupProbe'] as const) {
    const probe = container[field]
    if (probe !== undefined && probe.successThreshold !== 1) {
      invalid(report, `${at}.${field}.successThreshold`, probe.successThreshold, 'must be 1')
    }
  }
  const grace = container.readinessProbe?.terminationGracePeriodSeconds
  if (grace !== undefined) {
    invalid(report, `${at}.readinessProbe.terminationGracePeriodSeconds`, grace, 'must not be set for readinessProbes')
  }
}
