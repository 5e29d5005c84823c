/** Probes and lifecycle hooks. */
import { int32, int64, one, inline, list, string, type Static } from '../../language/declare.js'
import { IntOrString } from '../../meta/int-or-string.js'
import { message } from './package.js'
import { SIGNALS } from './rules/signals.js'
import { validateHandler, validateProbe } from './rules/handlers.js'

export type ExecAction = Static<typeof ExecAction>
export const ExecAction = message('ExecAction', 'A command to run in a container.', {
  command: list(1, 'Program and arguments, run without a shell; exit status zero means success.', 'string')
})

export type HTTPHeader = Static<typeof HTTPHeader>
export const HTTPHeader = message('HTTPHeader', 'A header of a probe request.', {
  name: string(1, 'Name of the header.', { required: true, ruled: true }),
  value: string(2, 'Value of the header.', { required: true, mayBeEmpty: true })
})

export type HTTPGetAction = Static<typeof HTTPGetAction>
export const HTTPGetAction = message('HTTPGetAction', 'An HTTP GET request to send.', {
  path: string(1, 'Path of the request.', { default: '/' }),
  port: one(2, 'Number or name of the port to connect to.', IntOrString, { required: true }),
  host: string(3, 'Host to connect to; by default the address of the pod.'),
  scheme: string(4, 'Scheme to connect with, HTTP or HTTPS; by default HTTP.', {
    values: ['HTTP', 'HTTPS'], closed: 'ruled', default: 'HTTP'
  }),
  httpHeaders: list(5, 'Headers to add to the request; names may repeat.', HTTPHeader)
})

export type TCPSocketAction = Static<typeof TCPSocketAction>
export const TCPSocketAction = message('TCPSocketAction', 'Opening a TCP connection.', {
  port: one(1, 'Number or name of the port to connect to.', IntOrString, { required: true }),
  host: string(2, 'Host to connect to; by default the address of the pod.')
})

export type GRPCAction = Static<typeof GRPCAction>
export const GRPCAction = message('GRPCAction', 'A health check over gRPC.', {
  port: int32(1, 'Port of the gRPC service, from 1 to 65535.', { required: true }),
  service: string(2, 'Service name put into the health check request.', { written: true, pointer: true, default: '' })
})

export type ProbeHandler = Static<typeof ProbeHandler>
export const ProbeHandler = message('ProbeHandler', 'What a probe does; one of its members is set.', {
  exec: one(1, 'Command to run in the container.', ExecAction, { pointer: true }),
  httpGet: one(2, 'HTTP request to send.', HTTPGetAction, { pointer: true }),
  tcpSocket: one(3, 'TCP port that must be open.', TCPSocketAction, { pointer: true }),
  grpc: one(4, 'Health check over gRPC to make.', GRPCAction, { pointer: true, gate: 'GRPCContainerProbe' })
}, { validate: (handler, at, report) => { validateHandler(handler, at, report) } })

export type Probe = Static<typeof Probe>
export const Probe = message('Probe', 'A check of whether a container is alive or ready.', {
  handler: inline(1, 'What the check does.', ProbeHandler),
  initialDelaySeconds: int32(2, 'Seconds after the container starts before the first check.'),
  timeoutSeconds: int32(3, 'Seconds until a check counts as failed; by default 1.', { default: 1 }),
  periodSeconds: int32(4, 'Seconds between two checks; by default 10.', { default: 10 }),
  successThreshold: int32(5, 'Checks in a row that must succeed after a failure.', { default: 1 }),
  failureThreshold: int32(6, 'Checks in a row that must fail; by default 3.', { default: 3 }),
  terminationGracePeriodSeconds: int64(7, 'Seconds to end in after a failed check, instead of those of the pod.', {
    pointer: true, gate: { name: 'ProbeTerminationGracePeriod', except: 'readinessProbe' }
  })
}, { validate: (probe, at, report) => { validateProbe(probe, at, report) } })

export type SleepAction = Static<typeof SleepAction>
export const SleepAction = message('SleepAction', 'Waiting.', {
  seconds: int64(1, 'Seconds to wait.', { required: true })
})

export type LifecycleHandler = Static<typeof LifecycleHandler>
export const LifecycleHandler = message('LifecycleHandler', 'What a lifecycle hook does; one of its members is set.', {
  exec: one(1, 'Command to run in the container.', ExecAction, { pointer: true }),
  httpGet: one(2, 'HTTP request to send.', HTTPGetAction, { pointer: true }),
  tcpSocket: one(3, 'Deprecated: not supported as a lifecycle hook.', TCPSocketAction, { pointer: true }),
  sleep: one(4, 'Time to wait.', SleepAction, { pointer: true, gate: 'PodLifecycleSleepAction', since: '1.29' })
}, { validate: (handler, at, report) => { validateHandler(handler, at, report) } })

export type Lifecycle = Static<typeof Lifecycle>
export const Lifecycle = message('Lifecycle', 'What runs at the start and end of a container.', {
  postStart: one(
    1, 'What runs right after the container is created; if it fails, the container ends.', LifecycleHandler,
    { pointer: true }
  ),
  preStop: one(2, 'What runs before the container is stopped.', LifecycleHandler, { pointer: true }),
  stopSignal: string(3, 'Signal that stops the container; by default that of its image. Needs os of the pod.', {
    pointer: true, values: SIGNALS, closed: 'ruled', gate: 'ContainerStopSignals', since: '1.33'
  })
})
