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
import type {
  AllocationResult, DeviceClaim, ResourceClaim, ResourceClaimStatus, ResourceClaimTemplate
} from '../../schemas/api/resource/v1.js'
import type { Gates } from '../../schemas/gates.js'
import { sameValue } from '../../schemas/language/values.js'
import type { UserInfo } from '../../schemas/meta/user-info.js'
import { invalid } from '../../schemas/status.js'
import { typed, type AdmissionPlugin, type AdmissionRequest } from '../../registry/admission.js'

const GROUP = 'resource.orch.io'
const CLAIMS = 'resourceclaims'
const ADMIN_LABEL = 'resource.orch.io/admin-access'
const ACCOUNT = 'system:serviceaccount:'

interface Tools {
  readonly authorize: (attributes: Attributes) => Ruling | Promise<Ruling>
  readonly gates: Pick<Gates, 'enabled'>
}

function refuse ({ kind, name, object }: AdmissionRequest, field: string, detail: string): never {
  const { metadata } = object as unknown as ResourceClaim // all that this plugin handles has metadata
  throw invalid({ group: GROUP, kind }, name || (metadata.name ?? ''), [
    { type: 'FieldValueForbidden', field, detail }
  ])
}

/** Index of the first request, or result, that has `adminAccess`; -1 if none has. */
const administers = (devices: DeviceClaim): number =>
  (devices.requests ?? []).findIndex(({ exactly }) => exactly?.adminAccess === true)
const administersResult = ({ allocation }: ResourceClaimStatus): number =>
  (allocation?.devices.results ?? []).findIndex(({ adminAccess }) => adminAccess === true)

async function requireLabel (request: AdmissionRequest, path: string, index: number): Promise<void> {
  if (index < 0) return
  const { reader, namespace } = request
  const found = await reader.get('', 'namespaces', '', namespace) as Namespace | undefined // of that type
  if (found?.metadata.labels?.[ADMIN_LABEL] === 'true') return
  refuse(request, `${path}[${index}].adminAccess`,
    `admin access to devices requires the \`${ADMIN_LABEL}: true\` label on the containing namespace`)
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

  const validateStatus = async (
    request: AdmissionRequest, user: UserInfo, { status }: ResourceClaim, { status: old }: ResourceClaim
  ): Promise<void> => {
    const { verb = 'update', namespace } = request
    const { allocation } = status
    if ((!sameValue(allocation, old.allocation) || !sameValue(status.reservedFor, old.reservedFor)) &&
      !await mayDo(user, verb, 'binding', { namespace: '', name: '' })) {
      refuse(request, 'status.allocation',
        `changing status.allocation or status.reservedFor requires the verb ${verb} on ${CLAIMS}/binding`)
    }
    if (allocation === undefined) return
    const [own, ...others] = user.extra?.[NODE_NAME] ?? []
    const isAssociated = user.username.startsWith(ACCOUNT) && own !== undefined && others.length === 0 &&
      own === nodeOf(allocation)
    for (const name of changedDrivers(status, old)) {
      if (isAssociated && await mayDo(user, `associated-node:${verb}`, 'driver', { namespace, name })) continue
      if (await mayDo(user, `arbitrary-node:${verb}`, 'driver', { namespace, name })) continue
      refuse(request, 'status.devices',
        `changing the state of devices of ${name} requires the verb arbitrary-node:${verb} on ${CLAIMS}/driver`)
    }
  }

  return {
    name: 'DeviceClaims',
    handles: [
      { operations: ['CREATE'], groups: [GROUP], resources: [CLAIMS, 'resourceclaimtemplates'] },
      { operations: ['UPDATE'], groups: [GROUP], resources: [`${CLAIMS}/status`] }
    ],
    async validate (request) {
      const { user, operation, resource } = request
      if (user === undefined) return
      if (operation === 'CREATE') {
        const devices = resource === CLAIMS
          ? typed<ResourceClaim>(request).object?.spec.devices
          : typed<ResourceClaimTemplate>(request).object?.spec.spec.devices
        if (devices !== undefined) await requireLabel(request, 'spec.devices.requests', administers(devices))
        return
      }
      const { object: claim, oldObject: old } = typed<ResourceClaim>(request)
      if (claim === undefined || old === undefined) return
      // What was granted before stays.
      if (administersResult(old.status) < 0) {
        await requireLabel(request, 'status.allocation.devices.results', administersResult(claim.status))
      }
      if (gates.enabled('DRAResourceClaimGranularStatusAuthorization')) {
        await validateStatus(request, user, claim, old)
      }
    }
  }
}
