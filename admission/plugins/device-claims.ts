/**
 * Who may write what of claims to devices: access for administration needs a label of the namespace, and parts of the
 * status need permissions of their own. Not in the catalogue: these are rules of the type, which answer as its
 * validation does. The server's own writes are exempt.
 */
import { allows } from '../../auth/refusal.js'
import type { Attributes, Ruling } from '../../auth/authorizer.js'
import { NODE_NAME } from '../../auth/credential-ids.js'
import { resourceRequest } from '../../auth/request-info.js'
import type { Namespace } from '../../schemas/api/core/namespaces.js'
import { idOf } from '../../schemas/api/resource/rules/claim-status.js'
import { MOST } from '../../schemas/api/resource/rules/selection.js'
import type {
  AllocationResult, DeviceClaim, ResourceClaim, ResourceClaimStatus, ResourceClaimTemplate
} from '../../schemas/api/resource/v1.js'
import type { Gates } from '../../schemas/gates.js'
import { sameValue } from '../../schemas/language/values.js'
import type { UserInfo } from '../../schemas/meta/user-info.js'
import type { FieldError } from '../../schemas/status.js'
import { typed, type AdmissionPlugin, type AdmissionRequest } from '../../registry/admission.js'

const GROUP = 'resource.orch.io'
const CLAIMS = 'resourceclaims'
const ADMIN_LABEL = 'resource.orch.io/admin-access'
const ACCOUNT = 'system:serviceaccount:'

interface Tools {
  readonly authorize: (attributes: Attributes) => Ruling | Promise<Ruling>
  readonly gates: Pick<Gates, 'enabled'>
}

const forbidden = (field: string, detail: string): FieldError => ({ type: 'FieldValueForbidden', field, detail })

/** Index of the first request, or result, that has `adminAccess`; -1 if none has. */
const administers = (devices: DeviceClaim): number =>
  (devices.requests ?? []).findIndex(({ exactly }) => exactly?.adminAccess === true)
const administersResult = ({ allocation }: ResourceClaimStatus): number =>
  (allocation?.devices.results ?? []).findIndex(({ adminAccess }) => adminAccess === true)

/** A finding if `adminAccess` is set and the namespace lacks the label that it requires. */
async function labelFindings (
  { reader, namespace }: AdmissionRequest, path: string, index: number
): Promise<FieldError[]> {
  if (index < 0) return []
  const namespaceObject = await reader.get('', 'namespaces', '', namespace) as Namespace | undefined // of that type
  if (namespaceObject?.metadata.labels?.[ADMIN_LABEL] === 'true') return []
  return [forbidden(`${path}[${index}].adminAccess`,
    `admin access to devices requires the \`${ADMIN_LABEL}: true\` label on the containing namespace`)]
}

/** The node that an allocation is for, if it is for one alone. */
function nodeOf ({ nodeSelector }: AllocationResult): string | undefined {
  const [term, ...others] = nodeSelector?.nodeSelectorTerms ?? []
  const [field, ...more] = term?.matchFields ?? []
  if (field === undefined || others.length > 0 || more.length > 0 || (term?.matchExpressions ?? []).length > 0) {
    return undefined
  }
  const { key, operator, values = [] } = field
  return key === 'metadata.name' && operator === 'In' && values.length === 1 ? values[0] : undefined
}

/** Drivers of devices whose state is added, changed or removed. */
function changedDrivers ({ devices = [] }: ResourceClaimStatus, { devices: old = [] }: ResourceClaimStatus): string[] {
  const [now, before] = [devices, old].map(all => new Map(all.map(device => [idOf(device), device])))
  const changed = [...devices, ...old].filter(device => {
    const id = idOf(device)
    return !sameValue(now?.get(id), before?.get(id))
  })
  return [...new Set(changed.map(({ driver }) => driver))]
}

export function deviceClaims ({ authorize, gates }: Tools): AdmissionPlugin {
  const mayDo = async (
    user: UserInfo, verb: string, subresource: string, at: { readonly namespace: string, readonly name: string }
  ): Promise<boolean> => allows(await authorize({
    user, info: resourceRequest({ verb, group: GROUP, version: 'v1', resource: CLAIMS, subresource, ...at })
  }))

  const statusFindings = async (
    { verb = 'update', namespace }: AdmissionRequest, user: UserInfo, status: ResourceClaimStatus,
    old: ResourceClaimStatus
  ): Promise<FieldError[]> => {
    const { allocation } = status
    const findings: FieldError[] = []
    if ((!sameValue(allocation, old.allocation) || !sameValue(status.reservedFor, old.reservedFor)) &&
      !await mayDo(user, verb, 'binding', { namespace: '', name: '' })) {
      findings.push(forbidden('status.allocation',
        `changing status.allocation or status.reservedFor requires the verb ${verb} on ${CLAIMS}/binding`))
    }
    // Validation refuses longer lists, so their drivers need no permissions.
    if (allocation === undefined || (status.devices?.length ?? 0) > MOST) return findings
    const [own, ...others] = user.extra?.[NODE_NAME] ?? []
    const isAssociated = user.username.startsWith(ACCOUNT) && own !== undefined && others.length === 0 &&
      own === nodeOf(allocation)
    for (const name of changedDrivers(status, old)) {
      if (isAssociated && await mayDo(user, `associated-node:${verb}`, 'driver', { namespace, name })) continue
      if (await mayDo(user, `arbitrary-node:${verb}`, 'driver', { namespace, name })) continue
      findings.push(forbidden('status.devices',
        `changing the state of devices of ${name} requires the verb arbitrary-node:${verb} on ${CLAIMS}/driver`))
      break
    }
    return findings
  }

  return {
    name: 'DeviceClaims',
    handles: [
      { operations: ['CREATE'], groups: [GROUP], resources: [CLAIMS, 'resourceclaimtemplates'] },
      { operations: ['UPDATE'], groups: [GROUP], resources: [`${CLAIMS}/status`] }
    ],
    async findings (request) {
      const { user, operation, resource } = request
      if (user === undefined) return []
      if (operation === 'CREATE') {
        const devices = resource === CLAIMS
          ? typed<ResourceClaim>(request).object?.spec.devices
          : typed<ResourceClaimTemplate>(request).object?.spec.spec.devices
        return devices === undefined ? [] : await labelFindings(request, 'spec.devices.requests', administers(devices))
      }
      const { object: claim, oldObject: old } = typed<ResourceClaim>(request)
      if (claim === undefined || old === undefined) return []
      // What was granted before stays.
      const labels = administersResult(old.status) < 0
        ? await labelFindings(request, 'status.allocation.devices.results', administersResult(claim.status))
        : []
      return gates.enabled('DRAResourceClaimGranularStatusAuthorization')
        ? [...labels, ...await statusFindings(request, user, claim.status, old.status)]
        : labels
    }
  }
}
