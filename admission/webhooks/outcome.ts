/** Evaluates the result of one webhook call, with metrics and logs. */
import type { StatusError } from '../../schemas/status.js'
import type { AdmissionRequest } from '../../registry/admission.js'
import type { Verdict } from './answer.js'
import type { Hook } from './hook.js'
import { denied, internal, timedOut } from './refusals.js'
import { HookFailure } from './target.js'
import type { HookStep, HookTools } from './tools.js'

export interface WebhookCall<T> {
  /** The result of `then`; undefined if the call failed and the request proceeds. */
  readonly done: T | undefined
  readonly failedOpen: boolean
}

export interface Calling {
  readonly hook: Hook
  readonly step: HookStep
  readonly request: AdmissionRequest
  readonly tools: HookTools
}

/**
 * @param work calls the hook
 * @param then handles a response that allows
 * @throws StatusError that ends the request
 */
export async function outcomeOf<T> (
  { hook, step, request, tools }: Calling, work: () => Promise<Verdict>, then: (verdict: Verdict) => Promise<T> | T
): Promise<WebhookCall<T>> {
  const { name, ignoresFailure } = hook
  const { operation, signal } = request
  const { metrics } = tools
  const call = { hook: name, step, operation }
  const since = performance.now()
  const recordMetrics = (code: number, rejected: boolean): void => {
    const duration = performance.now() - since
    request.waited?.(duration, step === 'validating')
    metrics.called(call, duration / 1000, code, rejected)
  }
  let refusal: StatusError | undefined
  try {
    const verdict = await work()
    if (!verdict.allowed) {
      refusal = denied(name, verdict.status)
      metrics.rejected(call, 'no_error', refusal.status.code)
      recordMetrics(refusal.status.code, true)
      throw refusal
    }
    const done = await then(verdict)
    recordMetrics(200, false)
    return { done, failedOpen: false }
  } catch (error) {
    if (!(error instanceof HookFailure)) {
      if (error === refusal) throw error
      metrics.rejected(call, 'apiserver_internal_error', 0)
      recordMetrics(0, true)
      throw error
    }
    // The client has disconnected, so the hook did not fail.
    if (signal.aborted) throw timedOut()
    const describe = (why: string): string => `failed calling webhook ${JSON.stringify(name)}: ${why}`
    const logged = describe(error.clientMessage)
    tools.failed(hook.uid, ignoresFailure ? `${logged}; the request goes on, as its failurePolicy says` : logged)
    if (!ignoresFailure) metrics.rejected(call, 'calling_webhook_error', error.code)
    recordMetrics(error.code, !ignoresFailure)
    if (!ignoresFailure) throw internal(describe(error.message), error.cause ?? new Error(logged))
    metrics.failedOpen(call)
    return { done: undefined, failedOpen: true }
  }
}
