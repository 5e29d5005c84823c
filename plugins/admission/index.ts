/** Starts the admission plugins and hands their chain to the registry, before types are added to it. */
import { loadPlugins } from '../../admission/catalogue.js'
import { AdmissionChain } from '../../admission/chain.js'
import type { AdmissionOptions } from '../../admission/options.js'
import { observeAdmission } from './admission-metrics.js'
import { outboundCallers, type OutboundOptions } from './outbound.js'
import { observePodSecurity } from './pod-security-metrics.js'
import { observePolicies } from './policy-metrics.js'
import { plugin } from '../shared/plugin.js'

export interface AdmissionPluginOptions {
  readonly admission?: AdmissionOptions | undefined
  /** Default true. */
  readonly allowPrivileged?: boolean | undefined
  readonly outbound?: OutboundOptions | undefined
}

export default plugin<AdmissionPluginOptions>()(async (fastify, options) => {
  const { admission = {}, allowPrivileged = true, outbound = {} } = options
  const { authorizer, rbac } = fastify.orchAuthorization
  const { orchClock: clock, orchEgress: egress, orchMetrics: metrics, orchResources: resources } = fastify
  const { featureGates: gates, outside: { admission: names, reviews } } = fastify.orchSettings
  const note = (text: string): void => { fastify.log.warn(text) }
  const authorize = authorizer.authorize.bind(authorizer)
  const callers = outboundCallers({ ...outbound, resources, metrics, egress, reviews, gates, warn: note })
  const plugins = await loadPlugins(admission, {
    resources,
    authorize,
    tolerationSeconds: admission.tolerationSeconds ?? { notReady: 300, unreachable: 300 },
    callers,
    clock,
    gates,
    names,
    observePodSecurity: observePodSecurity(metrics),
    observePolicies: observePolicies(metrics),
    note
  })
  if (!allowPrivileged) {
    plugins.push((await import('../../admission/privileged-containers.js')).privilegedContainers(gates))
  }
  if (rbac !== undefined) {
    const { escalationCheck } = await import('../../admission/plugins/rbac-escalation.js')
    plugins.push(escalationCheck({ rbac, authorize }))
  }
  if (gates.enabled('ValidatingAdmissionPolicy') || gates.enabled('MutatingAdmissionPolicy')) {
    const { parameterPermissions } = await import('../../admission/policies/permissions.js')
    plugins.push(parameterPermissions({ resources, authorize, names }))
  }
  if (gates.enabled('DynamicResourceAllocation')) {
    plugins.push((await import('../../admission/plugins/device-claims.js')).deviceClaims({ authorize, gates }))
  }
  resources.admitWith(new AdmissionChain(plugins, observeAdmission(metrics), admission.plugins))
  fastify.decorate('orchConversionCaller', (await callers.webhooks(undefined)).caller)
  fastify.addHook('onClose', async () => { await callers.close() })
}, {
  name: 'orch/admission',
  fastify: '5.x',
  decorators: {
    fastify: ['orchAuthorization', 'orchClock', 'orchEgress', 'orchMetrics', 'orchResources', 'orchSettings']
  }
})
