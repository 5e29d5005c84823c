/** What expressions of admission policies and of match conditions may read. */
import { Environment, type Options } from '../../../expressions/program.js'
import { BOOL, DYN, listOf, mapOf, objectOf, STRING, type Type } from '../../../expressions/types.js'

const timestamp: Type = { kind: 'timestamp' }
const kind = objectOf({ group: STRING, version: STRING, kind: STRING })
const resource = objectOf({ group: STRING, version: STRING, resource: STRING })
const user = objectOf({ username: STRING, uid: STRING, groups: listOf(STRING), extra: mapOf(STRING, listOf(STRING)) })

const REQUEST = objectOf({
  kind, resource, subResource: STRING, requestKind: kind, requestResource: resource, requestSubResource: STRING,
  name: STRING, namespace: STRING, operation: STRING, userInfo: user, dryRun: BOOL, options: DYN
}, 'orch.AdmissionRequest')

const NAMESPACE: Type = {
  ...objectOf({
    metadata: objectOf({
      name: STRING, generateName: STRING, namespace: STRING, labels: mapOf(STRING, STRING),
      annotations: mapOf(STRING, STRING), UID: STRING, creationTimestamp: timestamp,
      deletionGracePeriodSeconds: { kind: 'int' }, deletionTimestamp: timestamp, generation: { kind: 'int' },
      resourceVersion: STRING, finalizers: listOf(STRING)
    }),
    spec: objectOf({ finalizers: listOf(STRING) }),
    status: objectOf({
      phase: STRING, conditions: listOf(objectOf({
        status: STRING, type: STRING, lastTransitionTime: timestamp, message: STRING, reason: STRING
      }))
    })
  }, 'orch.Namespace'), nullable: true
}

const AUTHORIZERS = {
  authorizer: { kind: 'authorizer' }, 'authorizer.requestResource': { kind: 'resource_check' }
} as const satisfies Record<string, Type>

const COMMON = { object: DYN, oldObject: DYN, request: REQUEST, namespaceObject: NAMESPACE }

export interface OwnVariable { readonly member: string, readonly type: Type }

/**
 * The variables that a policy declares, by name. All its environments share one, which grows: an expression sees those
 * added before it is compiled. A copy for each variable would take time and memory by the square of their number.
 */
export type OwnVariables = ReadonlyMap<string, OwnVariable>

/** Adds a variable. */
export function addVariable (variables: Map<string, OwnVariable>, name: string, type: Type): void {
  variables.set(name, { member: name, type })
}

export interface PolicyVariables {
  /** Whether there is `params`, or its type. Default type any. */
  readonly params: boolean | Type
  /** Whether there are `authorizer` and `authorizer.requestResource`. */
  readonly authorizer: boolean
  /** The members of `variables`; undefined where there is no such variable. */
  readonly variables?: OwnVariables | undefined
  /** The type of `object` and `oldObject`. Default any. */
  readonly object?: Type
  /** Whether expressions make patches. */
  readonly mutates?: boolean
}

/** What mutations make: objects of any fields, whose types are named by their places, and operations of a patch. */
export const OBJECT: Type = { kind: 'object', name: 'Object' }
export const JSON_PATCH: Type = objectOf({ op: STRING, path: STRING, from: STRING, value: DYN }, 'JSONPatch')
const PATCHES: Options = {
  structs: { Object: OBJECT, JSONPatch: JSON_PATCH }, functions: ['jsonpatch.escapeKey']
}

/** Those without variables of their own are shared, so that their programs are. */
const shared = new Map<string, Environment>()

export function policyEnvironment (given: PolicyVariables): Environment {
  const { params, authorizer, variables, object, mutates = false } = given
  const isShared = (variables?.size ?? 0) === 0 && object === undefined
  const key = `${String(params)} ${authorizer} ${variables !== undefined} ${mutates}`
  const known = isShared ? shared.get(key) : undefined
  if (known !== undefined) return known
  // Variables that are added later must not reach those who share an environment.
  const fields: OwnVariables = isShared || variables === undefined ? new Map() : variables
  const environment = new Environment({
    ...COMMON,
    ...(object === undefined ? {} : { object, oldObject: object }),
    ...(params === false ? {} : { params: params === true ? DYN : params }),
    ...(authorizer ? AUTHORIZERS : {}),
    ...(variables === undefined
      ? {}
      : { variables: { kind: 'object', fields, deferred: true, name: 'orch.Variables' } })
  }, mutates ? PATCHES : {})
  if (isShared) shared.set(key, environment)
  return environment
}

/** Conditions of webhooks. */
export const WEBHOOK_CONDITIONS = policyEnvironment({ params: false, authorizer: true })
