/** Whether an APIService is available: its service, its endpoints, and a request for its discovery. */
import type { Service } from '../../schemas/api/core/services.js'
import { reasonOf } from '../../storage/errors.js'
import { nextTurn, turnIsOver } from '../../event-loop/turns.js'
import type { ReadyEndpoint, ReadyEndpoints } from '../../admission/webhooks/ready-endpoints.js'
import type { AdmissionReader } from '../../registry/admission.js'
import type { RemoteService } from './registered-services.js'
import { shorten } from '../../schemas/quote.js'

export interface AvailabilityResult {
  readonly status: 'True' | 'False' | 'Unknown'
  readonly reason: string
  readonly message: string
}

/** Requests the discovery document of a service. Rejects with an Error whose message says why it was not received. */
export type Probe = (service: RemoteService, signal: AbortSignal) => Promise<void>

export const LOCAL: AvailabilityResult = {
  status: 'True', reason: 'Local', message: 'Local APIServices are always available'
}
const PASSED: AvailabilityResult = { status: 'True', reason: 'Passed', message: 'all checks passed' }

export const FAILED = 'FailedDiscoveryCheck'

/** Retries after the first failure. One reachable endpoint is enough. */
const MORE_ATTEMPTS = 4
const MAX_MESSAGE = 1000

export interface Checking {
  readonly reader: AdmissionReader
  readonly endpoints: ReadyEndpoints
  readonly probe: Probe
  readonly signal: AbortSignal
}

/** @param before this server's last result */
export async function check (
  remote: RemoteService, { reader, endpoints, probe, signal }: Checking, before?: AvailabilityResult
): Promise<AvailabilityResult> {
  const { namespace, name, port } = remote.service
  const about = `service/${name} in ${JSON.stringify(namespace)}`
  let service: Service | undefined
  try {
    service = await reader.get('', 'services', namespace, name) as Service | undefined // the resource's type
  } catch (error) {
    return {
      status: 'Unknown', reason: 'ServiceAccessError',
      message: shorten(`${about} cannot be checked due to: ${reasonOf(error)}`, MAX_MESSAGE)
    }
  }
  if (service === undefined) return missing('ServiceNotFound', `${about} is not present`)
  const { type = 'ClusterIP', ports } = service.spec ?? {}
  if (type === 'ClusterIP') {
    const servicePort = (ports ?? []).find(candidate => candidate.port === port)
    if (servicePort === undefined) return missing('ServicePortError', `${about} is not listening on port ${port}`)
    let ready: readonly ReadyEndpoint[] | undefined
    try {
      ready = await endpoints({ namespace, name }, servicePort)
    } catch (error) {
      return {
        status: 'Unknown', reason: 'EndpointsAccessError',
        message: shorten(`${about} cannot be checked due to: ${reasonOf(error)}`, MAX_MESSAGE)
      }
    }
    if (ready === undefined) return missing('EndpointsNotFound', `cannot find endpoints for ${about}`)
    if (ready.length === 0) {
      const portName = JSON.stringify(servicePort.name ?? '')
      return missing('MissingEndpoints', `endpoints for ${about} have no addresses with port name ${portName}`)
    }
  }
  try {
    await probed(remote, probe, signal, before?.reason === FAILED ? before.message : undefined)
  } catch (error) {
    return missing(FAILED, messageOf(error))
  }
  return PASSED
}

/** @param known the previous failure message. If the failure repeats, there are no further attempts. */
async function probed (
  remote: RemoteService, probe: Probe, signal: AbortSignal, known: string | undefined
): Promise<void> {
  const attempt = async (): Promise<void> => {
    if (turnIsOver()) await nextTurn() // refused connections settle in the turn they begin in
    await probe(remote, signal)
  }
  try {
    await attempt()
  } catch (error) {
    if (signal.aborted || messageOf(error) === known) throw error
    await Promise.any(Array.from({ length: MORE_ATTEMPTS }, attempt))
      .catch((all: unknown) => { throw all instanceof AggregateError ? all.errors.at(-1) : all })
  }
}

const missing = (reason: string, message: string): AvailabilityResult => ({ status: 'False', reason, message })
const messageOf = (error: unknown): string =>
  shorten(error instanceof Error ? error.message : String(error), MAX_MESSAGE)
