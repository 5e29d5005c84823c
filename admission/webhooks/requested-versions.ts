/** The objects of a request in all versions that webhooks and policies require of it. */
import type { AdmissionRequest } from '../../registry/admission.js'
import type { ResourceRegistry } from '../../registry/resource-registry.js'
import { convertedVersion } from './converted-version.js'
import type { RequestedKind } from './hook-set.js'
import { directVersionOf, type RequestedVersion } from './requested-version.js'

export class RequestedVersions {
  readonly #request: AdmissionRequest
  readonly #resources: ResourceRegistry
  readonly #made = new Map<RequestedKind, RequestedVersion>()

  constructor (request: AdmissionRequest, resources: ResourceRegistry) {
    this.#request = request
    this.#resources = resources
  }

  /** Its objects can be read once it is prepared. */
  of (spoken: RequestedKind): RequestedVersion {
    let version = this.#made.get(spoken)
    if (version === undefined) this.#made.set(spoken, version = versionOf(this.#request, spoken, this.#resources))
    return version
  }

  /** Undefined if there is nothing to wait for. Rejects with a StatusError or DecodeError if a conversion fails. */
  prepare (spoken: RequestedKind): Promise<void> | undefined {
    const { object, oldObject, requested } = this.#request
    if (spoken === requested) return undefined
    const { prepare } = this.of(spoken)
    if (prepare === undefined) return undefined
    return prepare([object, oldObject].filter(one => one !== undefined))
  }
}

function versionOf (request: AdmissionRequest, spoken: RequestedKind, resources: ResourceRegistry): RequestedVersion {
  const version = directVersionOf(request, spoken, resources)
  const { requested } = request
  const { siblings } = resources.find(request.group, request.resource) ?? {}
  if (siblings === undefined || spoken.version === requested.version) return version
  const own = directVersionOf(request, requested, resources)
  if (own.kind.group !== requested.group) return own // the view of a subresource, the same in all versions
  const { message } = version
  return message === undefined // no longer served
    ? version
    : convertedVersion(request, { own, other: { ...version, message } }, siblings)
}
