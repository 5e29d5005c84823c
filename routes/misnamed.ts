/** Names that have no effect are refused where clients use public names, and warned of elsewhere. */
import { GivenBody, type VerbRequest } from '../answers/answer.js'
import { viewOf } from '../answers/view.js'
import type { WriteContext } from '../registry/write-context.js'
import { mayBeMisnamed, misnamedWarnings } from '../schemas/compat/findings.js'
import { bodyOf } from './body.js'

export function misnamed (request: VerbRequest): WriteContext['misnamed'] {
  const { warnings } = request.orch
  const { findings } = viewOf(request.orch)
  if (findings !== undefined) return findings
  const body = bodyOf(request)
  if (!(body instanceof GivenBody ? body.mayBeMisnamed : mayBeMisnamed(body))) return undefined
  return (object, old) => {
    for (const text of misnamedWarnings(object, old)) {
      if (!warnings.includes(text)) warnings.push(text) // an attempt may be repeated
    }
    return []
  }
}
