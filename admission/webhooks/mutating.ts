/**
 * MutatingAdmissionWebhook: calls the matching webhooks of all MutatingWebhookConfigurations in order of name and
 * applies their patches; each hook sees the changes of earlier ones. After a change all mutating admission runs once
 * more, together with hooks of reinvocationPolicy IfNeeded.
 */
import type { AdmissionPlugin, AdmissionRequest, Pass } from '../../registry/admission.js'
import type { PolicyTools } from '../policies/variables.js'
import { oncePer } from '../../schemas/once-per.js'
import { JSON_PATCH } from './answer.js'
import { callWebhook } from './call-webhook.js'
import { hookConfigurations } from './configurations.js'
import { RequestedVersions } from './requested-versions.js'
import type { HookSet, Invocation } from './hook-set.js'
import { isMeant } from './meant.js'
import { outcomeOf } from './outcome.js'
import { applyHookPatch } from './patch.js'
import { ReviewWriter } from './review.js'
import { timedOut, unconverted } from './refusals.js'
import { isExempt, type HookTools } from './tools.js'

const PATCH = 'patch.webhook.admission.orch.io/'
const MUTATION = 'mutation.webhook.admission.orch.io/'

/** State of a request over both runs. */
interface Progress {
  /** Reinvocable hooks called since the last change. */
  readonly invoked: Set<string>
  /** Hooks to call again. */
  readonly toReinvoke: Set<string>
  /** The object after the last round. */
  objectAfterRound: string | undefined
}

interface Round {
  readonly request: AdmissionRequest
  readonly pass: Pass
  readonly writer: ReviewWriter
  readonly versions: RequestedVersions
}

export function mutatingWebhooks (tools: HookTools, policies: PolicyTools): AdmissionPlugin {
  const configurations = hookConfigurations(tools.resources, 'mutatingwebhookconfigurations', hooks => {
    tools.caller.retain(hooks.map(({ target }) => target))
  })
  const progressOf = oncePer((_pass: Pass): Progress =>
    ({ invoked: new Set(), toReinvoke: new Set(), objectAfterRound: undefined }))

  const run = async (set: HookSet, request: AdmissionRequest, pass: Pass): Promise<void> => {
    const matching = set.matching(request, tools.resources)
    const mayRepeat = matching.some(({ hook }) => hook.reinvoked)
    if (matching.length === 0 || (pass.round === 1 && !mayRepeat)) return
    const versions = new RequestedVersions(request, tools.resources)
    const own = versions.of(request.requested)
    const now = (): string => request.object === undefined || !mayRepeat ? '' : own.json(request.object)
    const progress = progressOf(pass)
    const { objectAfterRound } = progress
    if (objectAfterRound !== undefined && objectAfterRound !== now()) scheduleReinvocation(progress)
    const writer = new ReviewWriter(request, spoken => versions.of(spoken))
    for (const invocation of matching) {
      const { hook } = invocation
      if (!await isMeant(invocation, request, { tools: policies, type: 'admit' })) continue
      if (pass.round === 1 && !progress.toReinvoke.has(hook.uid)) continue
      if (request.signal.aborted) throw timedOut()
      if (await callHook(tools, invocation, { request, pass, writer, versions })) {
        scheduleReinvocation(progress)
        pass.again()
      }
      if (hook.reinvoked) progress.invoked.add(hook.uid)
    }
    if (pass.round === 0) progress.objectAfterRound = now()
  }

  return {
    name: 'MutatingAdmissionWebhook',
    handles: request => {
      configurations.follow()
      return !isExempt(request)
    },
    mutate: (request, pass) => {
      const set = configurations.current()
      if (set instanceof Promise) return set.then(hooks => run(hooks, request, pass))
      return set.hooks.length === 0 ? undefined : run(set, request, pass)
    }
  }
}

/** @returns whether the hook changed the object */
async function callHook (
  tools: HookTools, { hook, index, requested }: Invocation, { request, pass, writer, versions }: Round
): Promise<boolean> {
  const preparing = versions.prepare(requested)
  if (preparing !== undefined) await preparing.catch(unconverted)
  const version = versions.of(requested)
  const { name, configuration } = hook
  const place = `round_${pass.round}_index_${index}`
  let changed = false
  try {
    const { failedOpen } = await outcomeOf(
      { hook, step: 'admit', request, tools },
      () => callWebhook(
        hook, tools.caller, { request, writer, requested, objects: writer.objects(requested), mutating: true }
      ),
      async ({ patch }) => {
        if (patch === undefined) return
        const patched = await applyHookPatch(name, patch, version, { object: request.object, pass })
        if (patched === undefined) return
        changed = patched.changed
        // The patch may contain secrets of the object.
        request.annotate(
          `${PATCH}${place}`,
          JSON.stringify({ configuration, webhook: name, patch: patched.patch, patchType: JSON_PATCH }, exactly),
          'Request'
        )
      }
    )
    if (failedOpen) request.annotate(`failed-open.${MUTATION}${place}`, name)
  } finally {
    request.annotate(`${MUTATION}${place}`, JSON.stringify({ configuration, webhook: name, mutated: changed }))
  }
  return changed
}

/** Schedules the reinvocation of hooks that were called before a change. */
function scheduleReinvocation ({ invoked, toReinvoke }: Progress): void {
  for (const uid of invoked) toReinvoke.add(uid)
  invoked.clear()
}

const exactly = (_key: string, value: unknown): unknown => typeof value === 'bigint' ? String(value) : value
