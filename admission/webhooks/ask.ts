/** One question to one webhook: what is sent, what is answered, and what of the answer is for others than the caller. */
import { randomUUID } from 'node:crypto'
import { qualifiedName } from '../../schemas/names.js'
import { during } from '../../registry/trace.js'
import type { AdmissionRequest } from '../../registry/admission.js'
import { readAnswer } from './answer.js'
import type { Verdict } from './answer.js'
import type { Hook } from './hook.js'
import type { RequestedKind } from './hook-set.js'
import { dryRunUnsupported } from './refusals.js'
import type { ReviewWriter } from './review.js'
import { HookFailure } from './target.js'
import type { HookCaller } from './target.js'

export interface Question {
  readonly request: AdmissionRequest
  readonly writer: ReviewWriter
  readonly requested: RequestedKind
  /** Both objects, written by the writer in the form of `spoken`. */
  readonly objects: string
  readonly mutating: boolean
}

/** @throws HookFailure when there is no answer, StatusError 400 when it cannot be asked about a dry run */
export async function ask (hook: Hook, caller: HookCaller, { request, writer, requested, objects, mutating }: Question): Promise<Verdict> {
  const { name, configuration, target, timeout, version, takesDryRun } = hook
  if (request.dryRun && !takesDryRun) throw dryRunUnsupported(name)
  if (version === undefined) throw new HookFailure('could not create admission objects: webhook does not accept known AdmissionReview versions (v1, v1beta1)', 400)
  const uid = randomUUID()
  const body = writer.write(version, uid, requested, objects)
  const { operation, signal, resource, subresource } = request
  const answer = await during(request.trace, `Call ${mutating ? 'mutating' : 'validating'} webhook`, part =>
    caller.call({ target, body, timeout, signal, traceparent: part?.traceparent }), { configuration, webhook: name, resource, subresource, operation, uid })
  const verdict = readAnswer(answer, version, uid, mutating)
  for (const [suffix, value] of Object.entries(verdict.annotations)) {
    const key = `${name}/${suffix}`
    if (qualifiedName(key).length === 0) request.annotate(key, value)
  }
  for (const warning of verdict.warnings) request.warn(warning)
  return verdict
}
