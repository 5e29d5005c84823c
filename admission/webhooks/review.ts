/** Writes the AdmissionReview for webhooks, with the same fields in v1 and v1beta1. */
import type { UserInfo } from '../../schemas/meta/user-info.js'
import type { AdmissionRequest, AdmissionOperation } from '../../registry/admission.js'
import type { RequestedVersion, Kind } from './requested-version.js'
import type { ReviewVersion } from './hook.js'
import type { RequestedKind } from './hook-set.js'
import { namespaceOf } from './selectors.js'

export const GROUP = 'admission.orch.io'

/** The user of the server's own writes. */
const SERVER: UserInfo = {
  username: 'system:apiserver', uid: '', groups: ['system:masters', 'system:authenticated'], extra: {}
}

const OPTIONS: Readonly<Record<AdmissionOperation, string | undefined>> = {
  CREATE: 'CreateOptions', UPDATE: 'UpdateOptions', DELETE: 'DeleteOptions', CONNECT: undefined
}
/** Members of the options of each operation, in order. */
const MEMBERS: Readonly<Record<AdmissionOperation, readonly string[]>> = {
  CREATE: ['fieldManager', 'fieldValidation'],
  UPDATE: ['fieldManager', 'fieldValidation'],
  DELETE: ['gracePeriodSeconds', 'preconditions', 'orphanDependents', 'propagationPolicy'],
  CONNECT: []
}

const quote = JSON.stringify
const kindJson = ({ group, version, kind }: Kind): string =>
  `{"group":${quote(group)},"version":${quote(version)},"kind":${quote(kind)}}`
const resourceJson = ({ group, version, plural }: RequestedKind): string =>
  `{"group":${quote(group)},"version":${quote(version)},"resource":${quote(plural)}}`
const filled = (name: string, value: string): string => value === '' ? '' : `,${quote(name)}:${quote(value)}`

/** Writes reviews of one request; the common part is written once for all hooks. */
export class ReviewWriter {
  readonly #request: AdmissionRequest
  readonly #versions: (spoken: RequestedKind) => RequestedVersion
  #tail: string | undefined

  /** @param versions converts to a version */
  constructor (request: AdmissionRequest, versions: (spoken: RequestedKind) => RequestedVersion) {
    this.#request = request
    this.#versions = versions
  }

  /** @param objects the result of `objects` for `spoken` */
  write (version: ReviewVersion, uid: string, spoken: RequestedKind, objects: string): string {
    const { subresource, requested, name, operation } = this.#request
    const below = filled('subResource', subresource)
    return `{"kind":"AdmissionReview","apiVersion":"${GROUP}/${version}","request":{"uid":${quote(uid)}` +
      `,"kind":${kindJson(this.#versions(spoken).kind)},"resource":${resourceJson(spoken)}${below}` +
      `,"requestKind":${kindJson(this.#versions(requested).kind)},"requestResource":${resourceJson(requested)}` +
        `${filled('requestSubResource', subresource)}` +
      `${filled('name', name)}${filled('namespace', namespaceOf(this.#request))},"operation":"${operation}` +
        `",${objects}${this.#tail ??= this.#rest()}}}`
  }

  /** The members `object` and `oldObject` of a review. */
  objects (spoken: RequestedKind): string {
    const { object, oldObject } = this.#request
    const { json } = this.#versions(spoken)
    return `"object":${object === undefined ? 'null' : json(object)}` +
      `,"oldObject":${oldObject === undefined ? 'null' : json(oldObject)}`
  }

  #rest (): string {
    const { user = SERVER, dryRun } = this.#request
    return `,"userInfo":${JSON.stringify(userFields(user))},"dryRun":${dryRun},"options":${optionsJson(this.#request)}`
  }
}

const userFields = ({ username, uid, groups, extra }: UserInfo): object => ({
  ...(username === '' ? {} : { username }),
  ...(uid === '' ? {} : { uid }),
  ...(groups.length === 0 ? {} : { groups }),
  ...(Object.keys(extra).length === 0 ? {} : { extra })
})

function optionsJson ({ operation, options, dryRun }: AdmissionRequest): string {
  const kind = OPTIONS[operation]
  if (kind === undefined) return 'null'
  const fields = Object.fromEntries(MEMBERS[operation].filter(name => options[name] !== undefined &&
    options[name] !== '').map(name => [name, options[name]]))
  return JSON.stringify({ kind, apiVersion: 'meta.orch.io/v1', ...(dryRun ? { dryRun: ['All'] } : {}), ...fields })
}
