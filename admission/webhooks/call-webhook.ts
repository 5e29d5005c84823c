/** One call to one webhook: sends the review, reads the response, and passes on its annotations and warnings. */
import { randomUUID } from 'node:crypto'
import { runSteps } from '../../event-loop/turns.js'
import { qualifiedName } from '../../schemas/names.js'
import { withSpan } from '../../registry/trace.js'
import type { AdmissionRequest } from '../../registry/admission.js'
import { readAnswer, type Verdict } from './answer.js'
import type { Hook } from './hook.js'
import type { RequestedKind } from './hook-set.js'
import { dryRunUnsupported } from './refusals.js'
import type { ReviewWriter } from './review.js'
import { HookFailure, type HookCaller } from './target.js'

export interface WebhookRequest {
  readonly request: AdmissionRequest
  readonly writer: ReviewWriter
  readonly requested: RequestedKind
  /** Both objects as JSON, from `ReviewWriter.objects`. */
  readonly objects: string
  readonly mutating: boolean
}

/** @throws HookFailure if the call fails, StatusError 400 if the hook does not support dry runs */
export async function callWebhook (
  hook: Hook, caller: HookCaller, { request, writer, requested, objects, mutating }: WebhookRequest
): Promise<Verdict> {
  const { name, configuration, target, timeout, version, takesDryRun } = hook
  if (request.dryRun && !takesDryRun) throw dryRunUnsupported(name)
  if (version === undefined) {
    throw new HookFailure(
      'could not create admission objects: webhook does not accept known AdmissionReview versions (v1, v1beta1)', 400
    )
  }
  const uid = randomUUID()
  const body = writer.write(version, uid, requested, objects)
  const { operation, signal, resource, subresource } = request
  const response = await withSpan(request.trace, `Call ${mutating ? 'mutating' : 'validating'} webhook`, part =>
    caller.call({ target, body, timeout, signal, traceparent: part?.traceparent }), {
    configuration, webhook: name, resource, subresource, operation, uid
  })
  const verdict = await runSteps(readAnswer(response, version, uid, mutating), response.length)
  for (const [suffix, value] of Object.entries(verdict.annotations)) {
    const key = `${name}/${suffix}`
    if (qualifiedName(key).length === 0) request.annotate(key, value)
  }
  for (const warning of verdict.warnings) request.warn(warning)
  return verdict
}
