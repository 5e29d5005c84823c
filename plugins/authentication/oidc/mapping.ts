/**
 * Claims of a verified token to a user, as a configuration of authentication says: rules first, then mappings, then the
 * user's rules.
 */
import { CostExceeded, type Environment, type Program } from '../../../expressions/program.js'
import { toJson } from '../../../expressions/from-json.js'
import { Fault } from '../../../expressions/values.js'
import { runStepsWithinBudget } from '../../../event-loop/turns.js'
import type { ClaimMappings, JwtAuthenticator } from '../../../schemas/api/apiserver/authentication.js'
import { CLAIMS, USER } from '../../../schemas/api/apiserver/claim-expressions.js'
import type { UserInfo } from '../../../schemas/meta/user-info.js'
import { groupsOf, ownClaim, type Claims } from './claims.js'

/** Rejects with an Error that names what refused, never a claim's value. */
export type ToUser = (claims: Claims) => Promise<UserInfo>

type Evaluate = (values: Readonly<Record<string, unknown>>) => Promise<unknown>

/** @param what names the expression in errors */
function evaluation (of: Environment, text: string, what: string): Evaluate {
  const program: Program = of.compile(text)
  return async values => {
    try {
      const { value } = await runStepsWithinBudget(program.evaluate(values))
      if (value instanceof Fault) throw new Error(`${what} cannot be evaluated`)
      return toJson(value)
    } catch (error) {
      throw error instanceof CostExceeded ? new Error(`${what} costs too much`, { cause: error }) : error
    }
  }
}

/** A mapping's value: undefined without claim and expression, or where the claim is missing. */
function mapped (mapping: ClaimMappings['username'] | undefined, what: string): (claims: Claims) => Promise<unknown> {
  const { claim = '', expression = '' } = mapping ?? {}
  if (expression === '') return async claims => claim === '' ? undefined : ownClaim(claims, claim)
  const evaluate = evaluation(CLAIMS, expression, `the expression of ${what}`)
  return async claims => await evaluate({ claims })
}

const isMapped = ({ claim = '', expression = '' }: NonNullable<ClaimMappings['uid']> = {}): boolean =>
  claim !== '' || expression !== ''

function textOf (value: unknown, what: string): string {
  if (typeof value !== 'string') throw new Error(`${what} is missing or no text`)
  return value
}

/** The rules of claims and of the user, each of which must be true. */
function rules (
  of: Environment, name: 'claims' | 'user', given: JwtAuthenticator['userValidationRules'] = []
): (value: unknown) => Promise<void> {
  const all = given.map(({ expression, message = '' }, index) => ({
    evaluate: evaluation(of, expression, `rule ${index} of ${name}`), message
  }))
  return async value => {
    for (const [index, { evaluate, message }] of all.entries()) {
      if (await evaluate({ [name]: value }) === true) continue
      throw new Error(message === '' ? `rule ${index} of ${name} is not true` : message)
    }
  }
}

/** @throws Problem for an expression that does not compile, which validation refuses */
export function userOfClaims (
  { claimMappings, claimValidationRules = [], userValidationRules }: JwtAuthenticator
): ToUser {
  const { username, groups, uid, extra = [] } = claimMappings
  const values = claimValidationRules.filter(({ claim = '' }) => claim !== '')
  const checkClaims = rules(CLAIMS, 'claims', claimValidationRules.flatMap(({ expression = '', message = '' }) =>
    expression === '' ? [] : [{ expression, message }]))
  const checkUser = rules(USER, 'user', userValidationRules)
  const hasUid = isMapped(uid)
  const [nameOf, groupList, uidOf] = [mapped(username, 'username'), mapped(groups, 'groups'), mapped(uid, 'uid')]
  const attributes = extra.map(({ key, valueExpression }) => ({
    key, evaluate: evaluation(CLAIMS, valueExpression, `the expression of ${key}`)
  }))

  return async claims => {
    for (const { claim = '', requiredValue = '' } of values) {
      if (ownClaim(claims, claim) !== requiredValue) {
        throw new Error(`the claim ${claim} is not there, or not what it has to be`)
      }
    }
    await checkClaims(claims)
    const name = textOf(await nameOf(claims), 'the user name')
    if (name === '') throw new Error('the user name is empty')
    if (username.claim === 'email') checkVerified(claims)
    const user: UserInfo = {
      username: `${username.prefix ?? ''}${name}`,
      uid: hasUid ? textOf(await uidOf(claims), 'the uid') : '',
      groups: groupsOf(await groupList(claims), 'of groups').filter(group => group !== '')
        .map(group => `${groups?.prefix ?? ''}${group}`),
      extra: await extraOf(attributes, claims)
    }
    await checkUser(user)
    return user
  }
}

async function extraOf (
  attributes: ReadonlyArray<{ readonly key: string, readonly evaluate: Evaluate }>, claims: Claims
): Promise<Record<string, string[]>> {
  const extra: Record<string, string[]> = {}
  for (const { key, evaluate } of attributes) {
    const values = groupsOf(await evaluate({ claims }), key).filter(value => value !== '')
    if (values.length > 0) extra[key] = [...values]
  }
  return extra
}

function checkVerified (claims: Claims): void {
  const verified = ownClaim(claims, 'email_verified')
  if (verified !== undefined && verified !== true) throw new Error('the address in the claim email is not verified')
}
