/**
 * MutatingAdmissionWebhook: asks the webhooks of all MutatingWebhookConfigurations whose rules and selectors match, one after the
 * other in order of name, and changes the object as they say; what one changed the next one sees. Where one has changed it,
 * all admission that changes objects runs once more, and those of the webhooks that ask for it (reinvocationPolicy IfNeeded).
 */
import type { AdmissionPlugin, AdmissionRequest, Pass } from '../../registry/admission.js'
import { JSON_PATCH } from './answer.js'
import { ask } from './ask.js'
import { Configurations } from './configurations.js'
import { formOf } from './forms.js'
import type { Form } from './forms.js'
import type { HookSet, Invocation, RequestedKind } from './hook-set.js'
import { outcomeOf } from './outcome.js'
import { applyHookPatch } from './patch.js'
import { ReviewWriter } from './review.js'
import { timedOut } from './refusals.js'
import { isSelected } from './selectors.js'
import { isExempt } from './tools.js'
import type { HookTools } from './tools.js'

const PATCH = 'patch.webhook.admission.orch.io/'
const MUTATION = 'mutation.webhook.admission.orch.io/'

/** Of one request, over both rounds. */
interface Progress {
  /** Asked since the object was last changed, and willing to be asked again. */
  readonly invoked: Set<string>
  /** To be asked again. */
  readonly again: Set<string>
  /** What the last round left. */
  left: string
}

export function mutatingWebhooks (tools: HookTools): AdmissionPlugin {
  const configurations = new Configurations(tools.resources, 'mutatingwebhookconfigurations', hooks => { tools.caller.retain(hooks.map(({ target }) => target)) })
  const progress = new WeakMap<Pass, Progress>()

  const round = async (set: HookSet, request: AdmissionRequest, pass: Pass): Promise<void> => {
    const matching = set.matching(request, tools.resources())
    const mayRepeat = matching.some(({ hook }) => hook.reinvoked)
    if (matching.length === 0 || (pass.round === 1 && !mayRepeat)) return
    const forms = new Forms(request, tools)
    const own = forms.of(request.requested)
    const now = (): string => request.object === undefined || !mayRepeat ? '' : own.json(request.object)
    let kept = progress.get(pass)
    if (kept === undefined) progress.set(pass, kept = { invoked: new Set(), again: new Set(), left: '' })
    else if (kept.left !== now()) askAgain(kept)
    const writer = new ReviewWriter(request, spoken => forms.of(spoken))
    for (const invocation of matching) {
      const { hook } = invocation
      if (!await isSelected(hook, request)) continue
      if (pass.round === 1 && !kept.again.has(hook.uid)) continue
      if (request.signal.aborted) throw timedOut()
      if (await one(invocation, request, pass.round, writer, forms.of(invocation.requested))) {
        askAgain(kept)
        pass.again()
      }
      if (hook.reinvoked) kept.invoked.add(hook.uid)
    }
    if (pass.round === 0) kept.left = now()
  }

  /** @returns whether it has changed the object */
  const one = async ({ hook, index, requested }: Invocation, request: AdmissionRequest, round: number, writer: ReviewWriter, form: Form): Promise<boolean> => {
    const { name, configuration } = hook
    const place = `round_${round}_index_${index}`
    let changed = false
    try {
      const { failedOpen } = await outcomeOf(hook, 'admit', request, tools, () => ask(hook, tools.caller, { request, writer, requested, objects: writer.objects(requested), mutating: true }), async ({ patch }) => {
        const patched = patch === undefined ? undefined : await applyHookPatch(name, patch, form, request)
        if (patched === undefined) return
        changed = patched.changed
        // It may hold what the object holds, secrets too.
        request.annotate(`${PATCH}${place}`, JSON.stringify({ configuration, webhook: name, patch: patched.patch, patchType: JSON_PATCH }, exactly), 'Request')
      })
      if (failedOpen) request.annotate(`failed-open.${MUTATION}${place}`, name)
    } finally {
      request.annotate(`${MUTATION}${place}`, JSON.stringify({ configuration, webhook: name, mutated: changed }))
    }
    return changed
  }

  return {
    name: 'MutatingAdmissionWebhook',
    handles: request => {
      configurations.follow()
      return !isExempt(request)
    },
    mutate: (request, pass) => {
      const set = configurations.current()
      if (set instanceof Promise) return set.then(found => round(found, request, pass))
      return set.hooks.length === 0 ? undefined : round(set, request, pass)
    }
  }
}

/** Whoever was asked before a change is asked about the changed object. */
function askAgain ({ invoked, again }: Progress): void {
  for (const uid of invoked) again.add(uid)
  invoked.clear()
}

const exactly = (_key: string, value: unknown): unknown => typeof value === 'bigint' ? String(value) : value

/** Of the versions that hooks ask for, each made once. */
export class Forms {
  readonly #request: AdmissionRequest
  readonly #tools: HookTools
  readonly #made = new Map<RequestedKind, Form>()

  constructor (request: AdmissionRequest, tools: HookTools) {
    this.#request = request
    this.#tools = tools
  }

  of (spoken: RequestedKind): Form {
    let form = this.#made.get(spoken)
    if (form === undefined) this.#made.set(spoken, form = formOf(this.#request, spoken, this.#tools.resources()))
    return form
  }
}
