/**
 * Nobody grants what they are not allowed themselves: who writes a role holds all that it allows, or may `escalate` it; who
 * binds one holds all that it allows, or may `bind` it. What the server writes by itself is not asked.
 */
import type { ClusterRole } from '../../schemas/api/rbac/clusterroles.js'
import type { Attributes, Ruling } from '../../auth/authorizer.js'
import type { UserInfo } from '../../schemas/meta/user-info.js'
import { forbidden, notFound } from '../../schemas/status.js'
import type { AdmissionPlugin, AdmissionRequest } from '../../registry/admission.js'
import { onlyForCollection } from '../garbage-fields.js'
import type { RbacAuthorizer } from '../../auth/rbac/authorizer.js'
import type { Binding } from '../../auth/rbac/grants.js'
import { type Rule, ruleText, uncovered } from '../../auth/rbac/rules.js'

const GROUP = 'rbac.authorization.orch.io'
const MASTERS = 'system:masters'
const EVERYTHING: readonly Rule[] = [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }, { verbs: ['*'], nonResourceURLs: ['*'] }]

interface Escalation {
  readonly rbac: RbacAuthorizer
  /** All authorizers of the server, which may let somebody `escalate` or `bind`. */
  readonly authorize: (attributes: Attributes) => Ruling | Promise<Ruling>
}

export function escalationCheck ({ rbac, authorize }: Escalation): AdmissionPlugin {
  const may = async (user: UserInfo, verb: string, resource: string, namespace: string, name: string): Promise<boolean> =>
    (await authorize({ user, info: { path: '', isResourceRequest: true, verb, group: GROUP, version: 'v1', resource, subresource: '', namespace, name } })).decision === 'Allow'

  const confirm = (request: AdmissionRequest, user: UserInfo, rules: readonly Rule[], name: string): void => {
    const refuse = (why: string): never => { throw forbidden({ group: GROUP, resource: request.resource }, name, why) }
    try {
      const { rules: owned, problems } = rbac.rulesOf(user, request.namespace)
      const missing = uncovered(owned, rules)
      if (missing.length === 0) return
      const unresolved = problems.length === 0 ? '' : `; resolution errors: ${JSON.stringify(problems)}`
      refuse(`user ${JSON.stringify(user.username)} (groups=${JSON.stringify(user.groups)}) is attempting to grant RBAC permissions not currently held:\n${missing.map(ruleText).join('\n')}${unresolved}`)
    } catch (error) {
      if (error instanceof RangeError) refuse(`${error.message}, which is more than can be compared with your own; ask somebody who may escalate`)
      throw error
    }
  }

  const role = async (request: AdmissionRequest, user: UserInfo): Promise<void> => {
    const { rules = [], aggregationRule, metadata: { name = '' } } = request.object as unknown as ClusterRole // of a type that is one
    const old = request.oldObject as unknown as ClusterRole | undefined
    if (await may(user, 'escalate', request.resource, request.namespace, name)) return
    confirm(request, user, rules, name)
    // What is gathered may change later.
    if (aggregationRule != null || old?.aggregationRule != null) confirm(request, user, EVERYTHING, name)
  }

  const binding = async (request: AdmissionRequest, user: UserInfo): Promise<void> => {
    const { roleRef, metadata: { name = '' } } = request.object as unknown as Binding // of a type that is one
    const resource = roleRef.kind === 'Role' ? 'roles' : 'clusterroles'
    if (await may(user, 'bind', resource, request.namespace, roleRef.name)) return
    const rules = rbac.role(roleRef.kind === 'Role' ? request.namespace : '', roleRef.name)
    if (rules === undefined) throw notFound({ group: GROUP, resource }, roleRef.name)
    confirm(request, user, rules, name)
  }

  return {
    name: 'RBACEscalation',
    handles: [{ operations: ['CREATE', 'UPDATE'], groups: [GROUP], resources: ['clusterroles', 'roles', 'clusterrolebindings', 'rolebindings'] }],
    async validate (request) {
      const { user, resource } = request
      if (user === undefined || user.groups.includes(MASTERS) || onlyForCollection(request)) return
      await (resource.endsWith('roles') ? role(request, user) : binding(request, user))
    }
  }
}
