/** Explains a decision in words for access reviews: what each mode decides, up to the deciding one. */
import type { Attributes, Authorizer, Ruling } from '../../auth/authorizer.js'
import { reasonOf } from '../../storage/errors.js'
import { SUPERUSERS } from './superusers.js'

const DECISION_TEXTS: Readonly<Record<Ruling['decision'], string>> = {
  Allow: 'allowed', Deny: 'denied', NoOpinion: 'no opinion'
}

export function explanation (authorizers: readonly Authorizer[]): (attributes: Attributes) => Promise<string> {
  return async attributes => {
    const said: string[] = []
    for (const authorizer of authorizers) {
      const { decision, text } = await decisionOf(authorizer, attributes)
      if (authorizer !== SUPERUSERS || decision === 'Allow') said.push(`${authorizer.name}: ${text}`)
      if (decision !== 'NoOpinion') break
    }
    return said.join(' | ')
  }
}

async function decisionOf (authorizer: Authorizer, attributes: Attributes): Promise<{
  decision: Ruling['decision'], text: string
}> {
  try {
    const { decision, reason = '', evaluationError } = await authorizer.authorize(attributes)
    const why = authorizer.explain?.(attributes) ?? `${DECISION_TEXTS[decision]}${reason === '' ? '' : `: ${reason}`}`
    return { decision, text: evaluationError === undefined ? why : `${why}; ${reasonOf(evaluationError)}` }
  } catch (error) {
    return { decision: 'NoOpinion', text: `failed: ${reasonOf(error)}` }
  }
}
