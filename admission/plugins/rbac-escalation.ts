/**
 * Prevents privilege escalation: writing a role requires all its permissions, or the verb `escalate`; writing a binding
 * requires the permissions of its role, or the verb `bind`. The server's own writes are exempt.
 */
import type { ClusterRole } from '../../schemas/api/rbac/clusterroles.js'
import type { Attributes, Ruling } from '../../auth/authorizer.js'
import { allows } from '../../auth/refusal.js'
import { resourceRequest } from '../../auth/request-info.js'
import type { UserInfo } from '../../schemas/meta/user-info.js'
import { forbidden, notFound } from '../../schemas/status.js'
import { typed, type AdmissionPlugin, type AdmissionRequest } from '../../registry/admission.js'
import { onlyForCollection } from '../garbage-fields.js'
import type { RbacAuthorizer } from '../../auth/rbac/authorizer.js'
import type { Binding } from '../../auth/rbac/grants.js'
import { type Rule, ruleText, uncovered } from '../../auth/rbac/rules.js'

const GROUP = 'rbac.authorization.orch.io'
const MASTERS = 'system:masters'
const EVERYTHING: readonly Rule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'] }, { verbs: ['*'], nonResourceURLs: ['*'] }
]

interface Escalation {
  readonly rbac: RbacAuthorizer
  /** All authorizers of the server, for `escalate` and `bind`. */
  readonly authorize: (attributes: Attributes) => Ruling | Promise<Ruling>
}

export function escalationCheck ({ rbac, authorize }: Escalation): AdmissionPlugin {
  const isAllowed = async (
    user: UserInfo, action: Record<'verb' | 'resource' | 'namespace' | 'name', string>
  ): Promise<boolean> =>
    allows(await authorize({ user, info: resourceRequest({ ...action, group: GROUP, version: 'v1' }) }))

  const requirePermissions = (
    request: AdmissionRequest, user: UserInfo, rules: readonly Rule[], name: string
  ): void => {
    const refuse = (why: string): never => { throw forbidden({ group: GROUP, resource: request.resource }, name, why) }
    try {
      const { rules: owned, problems } = rbac.rulesOf(user, request.namespace)
      const missing = uncovered(owned, rules)
      if (missing.length === 0) return
      const unresolved = problems.length === 0 ? '' : `; resolution errors: ${JSON.stringify(problems)}`
      refuse(`user ${JSON.stringify(user.username)} (groups=${JSON.stringify(user.groups)}) is attempting to grant ` +
        `RBAC permissions not currently held:\n${missing.map(ruleText).join('\n')}${unresolved}`)
    } catch (error) {
      if (error instanceof RangeError) {
        refuse(`${error.message}, which is more than can be compared with your own; ask somebody who may escalate`)
      }
      throw error
    }
  }

  const role = async (request: AdmissionRequest, user: UserInfo): Promise<void> => {
    const { object, oldObject: old, resource, namespace } = typed<ClusterRole>(request)
    if (object === undefined) return
    const { rules = [], aggregationRule, metadata: { name = '' } } = object
    if (await isAllowed(user, { verb: 'escalate', resource, namespace, name })) return
    requirePermissions(request, user, rules, name)
    // Aggregated rules may change later.
    if (aggregationRule != null || old?.aggregationRule != null) requirePermissions(request, user, EVERYTHING, name)
  }

  const binding = async (request: AdmissionRequest, user: UserInfo): Promise<void> => {
    const { object, namespace } = typed<Binding>(request)
    if (object === undefined) return
    const { roleRef, metadata: { name = '' } } = object
    const resource = roleRef.kind === 'Role' ? 'roles' : 'clusterroles'
    if (await isAllowed(user, { verb: 'bind', resource, namespace, name: roleRef.name })) return
    const rules = rbac.role(roleRef.kind === 'Role' ? namespace : '', roleRef.name)
    if (rules === undefined) throw notFound({ group: GROUP, resource }, roleRef.name)
    requirePermissions(request, user, rules, name)
  }

  return {
    name: 'RBACEscalation',
    handles: [{
      operations: ['CREATE', 'UPDATE'], groups: [GROUP],
      resources: ['clusterroles', 'roles', 'clusterrolebindings', 'rolebindings']
    }],
    async validate (request) {
      const { user, resource } = request
      if (user === undefined || user.groups.includes(MASTERS) || onlyForCollection(request)) return
      await (resource.endsWith('roles') ? role(request, user) : binding(request, user))
    }
  }
}
