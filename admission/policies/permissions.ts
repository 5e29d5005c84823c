/**
 * Who writes a policy with parameters, or a binding that names some, must be allowed to read them: their values show in
 * what the policy refuses. Members of system:masters are.
 */
import type {
  MutatingAdmissionPolicy as Policy, MutatingAdmissionPolicyBinding as Binding
} from '../../schemas/api/admissionregistration/v1.js'
import { sameValue } from '../../schemas/language/values.js'
import { resourceRequest } from '../../auth/request-info.js'
import { typed, type AdmissionPlugin, type AdmissionRequest } from '../../registry/admission.js'
import { invalid, type StatusError } from '../../schemas/status.js'
import { representationOf } from './parameters.js'
import type { PolicyTools } from './variables.js'

const GROUP = 'admissionregistration.orch.io'
/** The policies of each kind of bindings. */
const POLICIES: ReadonlyMap<string, string> = new Map(['validating', 'mutating'].map(kind =>
  [`${kind}admissionpolicybindings`, `${kind}admissionpolicies`]))
const SUPERUSERS = 'system:masters'
const ALL = '*'

interface Read { readonly verb: string, readonly namespace: string, readonly name: string }

/** A 422 with one cause, as validation answers. */
const unreadable = ({ group, kind, name, user }: AdmissionRequest, field: string, why: string): StatusError =>
  invalid({ group, kind }, name, [{
    type: 'FieldValueForbidden', field, detail: `user ${user?.username ?? ''} ${why}`
  }])

export function parameterPermissions (tools: Omit<PolicyTools, 'gates'>): AdmissionPlugin {
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
    const { object, oldObject: old } = typed<Policy>(request) // of both kinds, which share these fields
    const { paramKind } = object?.spec ?? {}
    if (paramKind === undefined || sameValue(paramKind, old?.spec?.paramKind)) return
    if (await mayRead(request, paramKind, { verb: 'get', namespace: ALL, name: ALL })) return
    const { apiVersion = '', kind = '' } = paramKind
    throw unreadable(
      request, 'spec.paramKind', 'must have "get" permission on all objects of the referenced paramKind ' +
        `(kind=${kind}, apiVersion=${apiVersion})`
    )
  }

  const ofBinding = async (request: AdmissionRequest, policies: string): Promise<void> => {
    const { object, oldObject: old } = typed<Binding>(request) // of both kinds
    const { paramRef, policyName = '' } = object?.spec ?? {}
    if (paramRef === undefined) return
    if (old?.spec.policyName === policyName && sameValue(paramRef, old.spec.paramRef)) return
    const policy = await request.reader.get(GROUP, policies, '', policyName) as Policy | undefined
    const { name = '', namespace = '' } = paramRef
    const verb = name === '' ? 'list' : 'get'
    if (await mayRead(request, policy?.spec?.paramKind, { verb, namespace, name })) return
    throw unreadable(
      request, 'spec.paramRef',
      `does not have ${JSON.stringify(verb)} permission on the object referenced by paramRef`
    )
  }

  return {
    name: 'ParameterPermissions',
    handles: [{ operations: ['CREATE', 'UPDATE'], groups: [GROUP], resources: [...POLICIES].flat() }],
    validate: request => {
      const policies = POLICIES.get(request.resource)
      return policies === undefined ? ofPolicy(request) : ofBinding(request, policies)
    }
  }
}
