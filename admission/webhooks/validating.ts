/**
 * ValidatingAdmissionWebhook: calls the matching webhooks of all ValidatingWebhookConfigurations in parallel. One
 * refusal refuses the request; of several, the first in order of name is returned.
 */
import type { AdmissionPlugin, AdmissionRequest } from '../../registry/admission.js'
import { RequestVariables, type PolicyTools } from '../policies/variables.js'
import { callWebhook } from './call-webhook.js'
import { hookConfigurations } from './configurations.js'
import type { HookSet, Invocation, RequestedKind } from './hook-set.js'
import { isMeant } from './meant.js'
import { outcomeOf } from './outcome.js'
import { timedOut, unconverted } from './refusals.js'
import { RequestedVersions } from './requested-versions.js'
import { ReviewWriter } from './review.js'
import { isExempt, type HookTools } from './tools.js'

const FAILED_OPEN = 'failed-open.validating.webhook.admission.orch.io/'

export function validatingWebhooks (tools: HookTools, policies: PolicyTools): AdmissionPlugin {
  const configurations = hookConfigurations(tools.resources, 'validatingwebhookconfigurations', hooks => {
    tools.caller.retain(hooks.map(({ target }) => target))
  })

  const callAll = async (set: HookSet, request: AdmissionRequest): Promise<void> => {
    const selected: Invocation[] = []
    const variables = new RequestVariables(request, policies)
    for (const invocation of set.matching(request, tools.resources)) {
      const asking = { tools: policies, type: 'validating', variables } as const
      if (await isMeant(invocation, request, asking)) selected.push(invocation)
    }
    if (selected.length === 0) return
    if (request.signal.aborted) throw timedOut()
    const versions = new RequestedVersions(request, tools.resources)
    for (const { requested } of selected) {
      const preparing = versions.prepare(requested)
      if (preparing !== undefined) await preparing.catch(unconverted)
    }
    const writer = new ReviewWriter(request, spoken => versions.of(spoken))
    const written = new Map<RequestedKind, string>()
    const objectsIn = (spoken: RequestedKind): string => {
      let objects = written.get(spoken)
      if (objects === undefined) written.set(spoken, objects = writer.objects(spoken))
      return objects
    }
    const results = await Promise.allSettled(selected.map(async ({ hook, requested }, index) => {
      const { failedOpen } = await outcomeOf({ hook, step: 'validating', request, tools }, () =>
        callWebhook(hook, tools.caller, {
          request, writer, requested, objects: objectsIn(requested), mutating: false
        }), () => {})
      if (failedOpen) request.annotate(`${FAILED_OPEN}round_0_index_${index}`, hook.name)
    }))
    const refused = results.find(result => result.status === 'rejected')
    if (refused !== undefined) throw refused.reason
  }

  return {
    name: 'ValidatingAdmissionWebhook',
    handles: request => {
      configurations.follow()
      return !isExempt(request)
    },
    validate: request => {
      const set = configurations.current()
      if (set instanceof Promise) return set.then(hooks => callAll(hooks, request))
      return set.hooks.length === 0 ? undefined : callAll(set, request)
    }
  }
}
