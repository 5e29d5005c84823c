/** What expressions ask an authorizer. Callers provide it. */
import { Opaque, type Apply, type Library, type Value } from './values.js'

/** What is asked for, as far as it was said. */
export interface Asked {
  /** Default the user of the request. */
  readonly serviceAccount?: { readonly namespace: string, readonly name: string }
  /** For URLs that are no resources; without it the others. */
  readonly path?: string
  readonly group?: string
  readonly resource?: string
  readonly subresource?: string
  readonly namespace?: string
  readonly name?: string
  readonly fieldSelector?: string
  readonly labelSelector?: string
}
export interface Answered { readonly allowed: boolean, readonly reason: string, readonly error?: string | undefined }
/** @param asked with all that it does not have as `` */
export type Ask = (asked: Asked, verb: string) => Answered | Promise<Answered>

export class Authorizer extends Opaque {
  readonly type = 'authorizer'
  constructor (readonly ask: Ask, readonly asked: Asked = {}) { super() }
}
export class Decision extends Opaque {
  readonly type = 'decision'
  constructor (readonly answered: Answered) { super() }
}
/** A question that lacks only its verb, or with `group_check` its resource. */
export class Check extends Opaque {
  constructor (
    readonly type: 'path_check' | 'group_check' | 'resource_check', readonly ask: Ask, readonly asked: Asked
  ) { super() }

  async check (verb: string): Promise<Decision> {
    try {
      return new Decision(await this.ask(this.asked, verb))
    } catch (error) {
      return new Decision({ allowed: false, reason: '', error: error instanceof Error ? error.message : String(error) })
    }
  }
}

const asks = (of: Value, type: Check['type'], more: Asked, kept: Check['type'] = type): Check | undefined =>
  of instanceof Check && of.type === kept ? new Check(type, of.ask, { ...of.asked, ...more }) : undefined
const begun = (of: Value, type: Check['type'], more: Asked): Check | undefined =>
  of instanceof Authorizer ? new Check(type, of.ask, { ...of.asked, ...more }) : undefined
const texts = (apply: (of: Value, text: string, second: string) => Value | undefined) =>
  ([of = null, text, second = '']: readonly Value[]): Value | undefined =>
    typeof text === 'string' && typeof second === 'string' ? apply(of, text, second) : undefined
const decided = (apply: (answered: Answered) => Value) =>
  ([of]: readonly Value[]): Value | undefined => of instanceof Decision ? apply(of.answered) : undefined

export const ofAuthorizers: Library = [
  ['.path', texts((of, path) => begun(of, 'path_check', { path }))],
  ['.group', texts((of, group) => begun(of, 'group_check', { group }))],
  ['.serviceAccount', texts((of, namespace, name) =>
    of instanceof Authorizer
      ? new Authorizer(of.ask, { ...of.asked, serviceAccount: { namespace, name } })
      : undefined)],
  ['.resource', texts((of, resource) => asks(of, 'resource_check', { resource }, 'group_check'))],
  ...(['subresource', 'namespace', 'name', 'fieldSelector', 'labelSelector'] as const)
    .map((field): [string, Apply] =>
      [`.${field}`, texts((of, text) => asks(of, 'resource_check', { [field]: text }))]),
  ['.allowed', decided(({ allowed }) => allowed)], ['.reason', decided(({ reason }) => reason)],
  ['.errored', decided(({ error }) => error !== undefined)], ['.error', decided(({ error }) => error ?? '')]
]
