/** What expressions of policies read of a request. */
import { Authorizer, Check, type Answered, type Ask, type Asked } from '../../expressions/authorizer.js'
import { parseLong } from '../../schemas/codec/json/exact.js'
import type { UserInfo } from '../../schemas/meta/user-info.js'
import { pathRequest, resourceRequest } from '../../auth/request-info.js'
import { serviceAccountGroups, serviceAccountUsername } from '../../auth/service-account-names.js'
import { reasonOf } from '../../storage/errors.js'
import { shown } from './parameters.js'
import type { AdmissionTools } from '../options.js'
import type { AdmissionRequest } from '../../registry/admission.js'
import { ReviewWriter } from '../webhooks/review.js'
import { requestedVersionOf, type RequestedVersion } from '../webhooks/requested-version.js'
import type { RequestedKind } from '../webhooks/hook-set.js'
import { isOfNamespaces, namespaceOf } from '../webhooks/selectors.js'

export type PolicyTools = Pick<AdmissionTools, 'resources' | 'authorize' | 'naming' | 'observePolicies'>
export type Values = Readonly<Record<string, unknown>>

/** The same values, with others beside or in place of them. */
export const extended = (values: Values, more: Values): Values => ({ ...values, ...more })

/** The values of one request, made once for each version that rules match. */
export class RequestVariables {
  readonly #request: AdmissionRequest
  readonly #tools: PolicyTools
  readonly #versions = new Map<RequestedKind, RequestedVersion>()
  readonly #constant = new Map<RequestedKind, Values>()
  readonly #made = new Map<RequestedKind, Values>()
  readonly #texts = new Map<RequestedKind, string>()
  readonly #answers = new Map<string, Answered | Promise<Answered>>()
  #namespace: Promise<unknown> | undefined

  constructor (request: AdmissionRequest, tools: PolicyTools) {
    this.#request = request
    this.#tools = tools
  }

  /** All but the policy's own variables. */
  async of (
    { requested, param }: { readonly requested: RequestedKind, readonly param: unknown }
  ): Promise<Values> {
    let values = this.#made.get(requested)
    if (values === undefined) {
      let constant = this.#constant.get(requested)
      if (constant === undefined) {
        const namespaceObject = await this.#namespaceObject()
        constant = { ...this.#constants(requested), namespaceObject, ...this.#authorizers() }
        this.#constant.set(requested, constant)
      }
      const text = this.text(requested)
      values = extended(constant, { object: text === '' ? null : shown(text, this.#tools.naming) })
      this.#made.set(requested, values)
    }
    return param === undefined ? values : extended(values, { params: param })
  }

  /** The object as JSON under own names; '' without one. */
  text (requested: RequestedKind): string {
    let text = this.#texts.get(requested)
    if (text === undefined) {
      const { object } = this.#request
      this.#texts.set(requested, text = object === undefined ? '' : this.version(requested).json(object))
    }
    return text
  }

  /** To call after the object was written. @returns whether it is another one now */
  changed (requested: RequestedKind): boolean {
    const before = this.text(requested)
    this.#texts.clear()
    if (this.text(requested) === before) return false
    this.#made.clear()
    return true
  }

  /** Expressions read what webhooks are sent, under the names of clients. */
  #constants (requested: RequestedKind): Values {
    const { naming } = this.#tools
    const writer = new ReviewWriter(this.#request, spoken => this.version(spoken))
    const own = writer.write('v1', '', requested, '"object":null,"oldObject":null')
    const text = naming?.renames === true ? naming.review(own).body : own
    const { request } = parseLong(text) as { request: Record<string, unknown> } // this server wrote it
    const { object: _object, oldObject: _oldObject, uid: _uid, ...rest } = request
    const { oldObject } = this.#request
    return {
      oldObject: oldObject === undefined ? null : shown(this.version(requested).json(oldObject), naming),
      request: {
        subResource: '', requestSubResource: '', name: '', namespace: '', ...rest,
        userInfo: { username: '', uid: '', groups: [], extra: {}, ...rest['userInfo'] as object }
      }
    }
  }

  version (spoken: RequestedKind): RequestedVersion {
    let version = this.#versions.get(spoken)
    if (version === undefined) {
      this.#versions.set(spoken, version = requestedVersionOf(this.#request, spoken, this.#tools.resources))
    }
    return version
  }

  /** Null for requests in no namespace, and for namespaces themselves. */
  async #namespaceObject (): Promise<unknown> {
    const namespace = namespaceOf(this.#request)
    if (namespace === '' || isOfNamespaces(this.#request)) return null
    return await (this.#namespace ??= this.#request.reader.get('', 'namespaces', '', namespace).then(found => {
      if (found === undefined) return null
      const { metadata: { uid, ...metadata }, ...rest } = found
      return { ...rest, metadata: { ...metadata, UID: uid } }
    }))
  }

  #authorizers (): Values {
    const { requested, subresource, namespace, name } = this.#request
    const { group, plural: resource } = requested
    const ask: Ask = (asked, verb) => this.#ask(asked, verb)
    return {
      authorizer: new Authorizer(ask),
      'authorizer.requestResource': new Check('resource_check', ask, { group, resource, subresource, namespace, name })
    }
  }

  /** Answers hold for the request. */
  #ask (asked: Asked, verb: string): Answered | Promise<Answered> {
    const key = JSON.stringify([asked, verb])
    let answer = this.#answers.get(key)
    if (answer === undefined) this.#answers.set(key, answer = this.#answer(asked, verb))
    return answer
  }

  async #answer (asked: Asked, verb: string): Promise<Answered> {
    const { path, group = '', resource = '', subresource = '', namespace = '', name = '', serviceAccount } = asked
    const own = (text: string): string => this.#tools.naming?.group(text) ?? text
    const info = path === undefined
      ? resourceRequest({ verb, group: own(group), version: '*', resource, subresource, namespace, name })
      : pathRequest(path, verb)
    const user = serviceAccount === undefined
      ? this.#request.user ?? NOBODY
      : accountUser(serviceAccount)
    const { decision, reason = '', evaluationError } = await this.#tools.authorize({ user, info })
    return {
      allowed: decision === 'Allow', reason,
      ...(evaluationError === undefined ? {} : { error: reasonOf(evaluationError) })
    }
  }
}

const accountUser = ({ namespace: of, name }: NonNullable<Asked['serviceAccount']>): UserInfo => ({
  username: serviceAccountUsername(of, name), uid: '', groups: [...serviceAccountGroups(of), 'system:authenticated'],
  extra: {}
})

const NOBODY: UserInfo = { username: '', uid: '', groups: [], extra: {} }
