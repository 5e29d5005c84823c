/** What the end of one call means for the request, and what is told of it. */
import type { StatusError } from '../../schemas/status.js'
import type { AdmissionRequest } from '../../registry/admission.js'
import type { Verdict } from './answer.js'
import type { Hook } from './hook.js'
import { denied, internal, timedOut } from './refusals.js'
import { HookFailure } from './target.js'
import type { HookStep, HookTools } from './tools.js'

export interface WebhookCall<T> {
  /** Of what an answer led to; undefined where a hook could not be asked and the request goes on. */
  readonly done: T | undefined
  readonly failedOpen: boolean
}

/**
 * @param work asks the hook
 * @param then what follows from an answer that allows
 * @throws StatusError that the request ends with
 */
export async function outcomeOf<T> (hook: Hook, step: HookStep, request: AdmissionRequest, tools: HookTools, work: () => Promise<Verdict>, then: (verdict: Verdict) => Promise<T> | T): Promise<WebhookCall<T>> {
  const { name, ignoresFailure } = hook
  const { operation, signal } = request
  const { metrics } = tools
  const since = performance.now()
  const told = (code: number, rejected: boolean): void => {
    const took = performance.now() - since
    request.waited?.(took, step === 'validating')
    metrics.called(name, step, operation, took / 1000, code, rejected)
  }
  let refusal: StatusError | undefined
  try {
    const verdict = await work()
    if (!verdict.allowed) {
      refusal = denied(name, verdict.status)
      metrics.rejected(name, step, operation, 'no_error', refusal.status.code)
      told(refusal.status.code, true)
      throw refusal
    }
    const done = await then(verdict)
    told(200, false)
    return { done, failedOpen: false }
  } catch (error) {
    if (!(error instanceof HookFailure)) {
      if (error === refusal) throw error
      metrics.rejected(name, step, operation, 'apiserver_internal_error', 0)
      told(0, true)
      throw error
    }
    // Nobody waits for it any more, which says nothing of the hook.
    if (signal.aborted) throw timedOut()
    const words = (why: string): string => `failed calling webhook ${JSON.stringify(name)}: ${why}`
    const logged = words(error.clientMessage)
    tools.failed(hook.uid, ignoresFailure ? `${logged}; the request goes on, as its failurePolicy says` : logged)
    if (!ignoresFailure) metrics.rejected(name, step, operation, 'calling_webhook_error', error.code)
    told(error.code, !ignoresFailure)
    if (!ignoresFailure) throw internal(words(error.message), error.cause ?? new Error(logged))
    metrics.failedOpen(name, step)
    return { done: undefined, failedOpen: true }
  }
}
