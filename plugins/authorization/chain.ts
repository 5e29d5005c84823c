/** Several authorizers as one. */
import type { Attributes, Authorizer, Rules, Ruling } from '../../auth/authorizer.js'
import type { UserInfo } from '../../schemas/meta/user-info.js'
import { reasonOf } from '../../storage/errors.js'

/**
 * Combines authorizers. Never throws or rejects; synchronous if all authorizers it calls are. An authorizer that throws
 * ends the chain without an opinion; an evaluation error is kept in case no later one has an opinion.
 */
export function chain (authorizers: readonly Authorizer[]): (attributes: Attributes) => Ruling | Promise<Ruling> {
  const ask = (from: number, attributes: Attributes, before: Ruling): Ruling | Promise<Ruling> => {
    let known = before
    for (let at = from; at < authorizers.length; at++) {
      let answer: Ruling | Promise<Ruling>
      try {
        answer = (authorizers[at] as Authorizer).authorize(attributes)
      } catch (error) {
        return failed(known, error)
      }
      if (answer instanceof Promise) {
        const preceding = known
        return answer.then(settled => settled.decision === 'NoOpinion'
          ? ask(at + 1, attributes, joinReasons(preceding, settled))
          : settled, error => failed(preceding, error))
      }
      if (answer.decision !== 'NoOpinion') return answer
      known = joinReasons(known, answer)
    }
    return known
  }
  return attributes => ask(0, attributes, NO_OPINION)
}

const NO_OPINION: Ruling = { decision: 'NoOpinion', reason: '' }

/** Joins two rulings without an opinion, one reason per line, as upstream. */
function joinReasons (before: Ruling, { reason = '', evaluationError }: Ruling): Ruling {
  if (reason === '' && evaluationError === undefined) return before
  const error = before.evaluationError ?? evaluationError
  const said = before.reason ?? ''
  return {
    decision: 'NoOpinion', reason: said === '' ? reason : reason === '' ? said : `${said}\n${reason}`,
    ...(error === undefined ? {} : { evaluationError: error })
  }
}

const failed = (before: Ruling, error: unknown): Ruling => joinReasons(before, {
  decision: 'NoOpinion', evaluationError: error ?? new Error('an authorizer failed without a reason')
})

const NO_RULES: Rules = { resourceRules: [], nonResourceRules: [], incomplete: false }

/** Collects the rules of all authorizers. Incomplete if one cannot list its rules or fails. */
export function rulesOf (authorizers: readonly Authorizer[]): (user: UserInfo, namespace: string) => Promise<Rules> {
  return async (user, namespace) => {
    const all = await Promise.all(authorizers.map(async authorizer => {
      try {
        return await authorizer.rules?.(user, namespace) ?? {
          ...NO_RULES, incomplete: true, evaluationError: new Error(`authorizer ${authorizer.name} does not list rules`)
        }
      } catch (error) {
        return { ...NO_RULES, incomplete: true, evaluationError: error }
      }
    }))
    const problems = all.flatMap(({ evaluationError }) =>
      evaluationError === undefined ? [] : [reasonOf(evaluationError)])
    return {
      resourceRules: all.flatMap(({ resourceRules }) => resourceRules),
      nonResourceRules: all.flatMap(({ nonResourceRules }) => nonResourceRules),
      incomplete: all.some(({ incomplete }) => incomplete),
      ...(problems.length === 0 ? {} : { evaluationError: new Error(problems.join(', ')) })
    }
  }
}
