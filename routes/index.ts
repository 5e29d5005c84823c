/** Every URL of the server. The path of a resource's file below this folder is its URL. */
import type { FastifyInstance } from 'fastify'
import configMaps from './api/v1/configmaps.js'
import namespaces from './api/v1/namespaces.js'
import secrets from './api/v1/secrets.js'
import serviceAccounts from './api/v1/serviceaccounts.js'
import clusterRoleBindings from './apis/rbac.authorization.orch.io/v1/clusterrolebindings.js'
import clusterRoles from './apis/rbac.authorization.orch.io/v1/clusterroles.js'
import roleBindings from './apis/rbac.authorization.orch.io/v1/rolebindings.js'
import roles from './apis/rbac.authorization.orch.io/v1/roles.js'
import discovery from './discovery.js'
import openapi from './openapi.js'

export default async function routes (fastify: FastifyInstance): Promise<void> {
  for (const resource of [configMaps, namespaces, secrets, serviceAccounts, clusterRoleBindings, clusterRoles, roleBindings, roles]) {
    await fastify.register(resource)
  }
  await fastify.register(discovery)
  await fastify.register(openapi)
}
