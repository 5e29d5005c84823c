/**
 * Who writes a policy with parameters, or a binding that names some, must be allowed to read them: their values show in
 * what the policy refuses. Members of system:masters are.
 */
import type {
  ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding
} from '../../schemas/api/admissionregistration/validating-policies.js'
import { sameValue } from '../../schemas/language/values.js'
import { resourceRequest } from '../../auth/request-info.js'
import type { AdmissionPlugin, AdmissionRequest } from '../../registry/admission.js'
import { refusal } from '../refusal.js'
import { representationOf } from './parameters.js'
import type { PolicyTools } from './variables.js'

const GROUP = 'admissionregistration.orch.io'
const POLICIES = 'validatingadmissionpolicies'
const BINDINGS = 'validatingadmissionpolicybindings'
const SUPERUSERS = 'system:masters'
const ALL = '*'

interface Read { readonly verb: string, readonly namespace: string, readonly name: string }

export function parameterPermissions (tools: PolicyTools): AdmissionPlugin {
  const mayRead = async (
    { user }: AdmissionRequest, paramKind: Parameters<typeof representationOf>[0]['paramKind'], read: Read
  ): Promise<boolean> => {
    if (user === undefined || user.groups.includes(SUPERUSERS)) return true
    const { group = ALL, version = ALL, plural: resource = ALL } = paramKind === undefined
      ? {}
      : representationOf({ paramKind }, tools.resources) ?? {}
    const info = resourceRequest({ ...read, group, version, resource, subresource: '' })
    return (await tools.authorize({ user, info })).decision === 'Allow'
  }

  const ofPolicy = async (request: AdmissionRequest): Promise<void> => {
    const { spec } = request.object as unknown as ValidatingAdmissionPolicy // of this type
    const before = (request.oldObject as unknown as ValidatingAdmissionPolicy | undefined)?.spec
    const { paramKind } = spec ?? {}
    if (paramKind === undefined || sameValue(paramKind, before?.paramKind)) return
    if (await mayRead(request, paramKind, { verb: 'get', namespace: ALL, name: ALL })) return
    const { apiVersion = '', kind = '' } = paramKind
    throw refusal(
      request, `user ${request.user?.username ?? ''} must have "get" permission on all objects of the referenced ` +
        `paramKind (kind=${kind}, apiVersion=${apiVersion})`
    )
  }

  const ofBinding = async (request: AdmissionRequest): Promise<void> => {
    const { spec } = request.object as unknown as ValidatingAdmissionPolicyBinding // of this type
    const before = (request.oldObject as unknown as ValidatingAdmissionPolicyBinding | undefined)?.spec
    const { paramRef, policyName } = spec
    if (paramRef === undefined) return
    if (before?.policyName === policyName && sameValue(paramRef, before.paramRef)) return
    const policy = await request.reader.get(GROUP, POLICIES, '', policyName) as ValidatingAdmissionPolicy | undefined
    const { name = '', namespace = '' } = paramRef
    const verb = name === '' ? 'list' : 'get'
    if (await mayRead(request, policy?.spec?.paramKind, { verb, namespace, name })) return
    throw refusal(
      request, `user ${request.user?.username ?? ''} does not have ${JSON.stringify(verb)} permission on the object ` +
        'referenced by paramRef'
    )
  }

  return {
    name: 'ParameterPermissions',
    handles: [{ operations: ['CREATE', 'UPDATE'], groups: [GROUP], resources: [POLICIES, BINDINGS] }],
    validate: request => request.resource === POLICIES ? ofPolicy(request) : ofBinding(request)
  }
}
