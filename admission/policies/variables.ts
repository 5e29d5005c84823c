/** What expressions of policies read of a request. */
import { Authorizer, Check, type Answered, type Ask, type Asked } from '../../expressions/authorizer.js'
import { DeferredFields, Given } from '../../expressions/from-json.js'
import { Namespace } from '../../schemas/api/core/namespaces.js'
import { toJson } from '../../schemas/codec/json/encode.js'
import { parseLong } from '../../schemas/codec/json/exact.js'
import { celValueOf } from '../../schemas/language/cel-values.js'
import type { ApiObject } from '../../schemas/meta/api-object.js'
import type { UserInfo } from '../../schemas/meta/user-info.js'
import { pathRequest, resourceRequest, type RequestInfo } from '../../auth/request-info.js'
import { SelectorsOfQuery } from '../../auth/selectors.js'
import { serviceAccountGroups, serviceAccountUsername } from '../../auth/service-account-names.js'
import { reasonOf } from '../../storage/errors.js'
import type { AdmissionTools } from '../options.js'
import type { AdmissionRequest } from '../../registry/admission.js'
import { ReviewWriter } from '../webhooks/review.js'
import type { RequestedVersion } from '../webhooks/requested-version.js'
import { RequestedVersions } from '../webhooks/requested-versions.js'
import type { RequestedKind } from '../webhooks/hook-set.js'
import { isOfNamespaces, namespaceOf } from '../webhooks/selectors.js'

export type PolicyTools = Pick<AdmissionTools, 'resources' | 'authorize' | 'gates' | 'names' | 'observePolicies'>
export type Values = Readonly<Record<string, unknown>>

/** The same values, with others beside or in place of them. */
export const extended = (values: Values, more: Values): Values =>
  Object.setPrototypeOf({ ...more }, values) as Values // assigning would call setters

const NO_VARIABLES = new DeferredFields(new Map())

/** The values of one request, made once for each version that rules match. */
export class RequestVariables {
  readonly #request: AdmissionRequest
  readonly #tools: PolicyTools
  readonly #versions: RequestedVersions
  readonly #made = new Map<RequestedKind, Values>()
  readonly #texts = new Map<RequestedKind, string>()
  readonly #answers = new Map<string, Answered | Promise<Answered>>()
  #namespace: { readonly pending: Promise<ApiObject | undefined> }
  | { readonly object: ApiObject | undefined } | undefined

  constructor (request: AdmissionRequest, tools: PolicyTools) {
    this.#request = request
    this.#tools = tools
    this.#versions = new RequestedVersions(request, tools.resources)
  }

  /** All but the policy's own variables; each is made when an expression first reads it. */
  of (
    { requested, param }: { readonly requested: RequestedKind, readonly param: unknown }
  ): Values | Promise<Values> {
    const namespace = this.#namespace ??= { pending: this.#namespaceObject() }
    if ('pending' in namespace) {
      return namespace.pending.then(object => {
        this.#namespace = { object }
        return this.of({ requested, param })
      })
    }
    let values = this.#made.get(requested)
    if (values === undefined) this.#made.set(requested, values = this.#values(requested, namespace.object))
    return param === undefined ? values : extended(values, { params: param })
  }

  #values (requested: RequestedKind, live: ApiObject | undefined): Values {
    return new RequestValues(this, this.#request, requested, live) as unknown as Values // its members
  }

  /** Reads what is declared without writing JSON, which other names need. */
  read (requested: RequestedKind, object: AdmissionRequest['object']): unknown {
    if (object === undefined) return null
    const { message, shown: typed, json } = this.version(requested)
    const { names } = this.#tools
    return message === undefined || typed === undefined || names.renames
      ? names.object(json(object))
      : new Given(celValueOf(message, typed(object)))
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

  /** To call after the object was changed. */
  forget (): void {
    this.#texts.clear()
    this.#made.clear()
  }

  /** Expressions read what webhooks are sent, under the names of clients. Empty members are absent in both. */
  reviewed (requested: RequestedKind): Values {
    const writer = new ReviewWriter(this.#request, spoken => this.version(spoken))
    const own = writer.write('v1', '', requested, '"object":null,"oldObject":null')
    const text = this.#tools.names.review(own)
    const { request } = parseLong(text) as { request: Record<string, unknown> } // this server wrote it
    const { object: _object, oldObject: _oldObject, uid: _uid, ...rest } = request
    return rest
  }

  version (spoken: RequestedKind): RequestedVersion { return this.#versions.of(spoken) }

  /** To be waited for, if defined, before values of that version are read. Rejects with the error of a conversion. */
  prepare (spoken: RequestedKind): Promise<void> | undefined { return this.#versions.prepare(spoken) }

  /** Undefined for requests in no namespace, and for namespaces themselves. */
  async #namespaceObject (): Promise<ApiObject | undefined> {
    const namespace = namespaceOf(this.#request)
    if (namespace === '' || isOfNamespaces(this.#request)) return undefined
    return await this.#request.reader.get('', 'namespaces', '', namespace)
  }

  /** From own names to those of clients, or back. */
  named (asked: Asked): Asked { return this.#tools.names.asked(asked) }

  /** For authorizers, like those in the query of such a request. */
  #selectorsOf ({ fieldSelector, labelSelector }: Asked): Pick<RequestInfo, 'selectors'> {
    if (fieldSelector === undefined && labelSelector === undefined) return {}
    if (!this.#tools.gates.enabled('AuthorizeWithSelectors')) return {}
    const query = new URLSearchParams({ fieldSelector: fieldSelector ?? '', labelSelector: labelSelector ?? '' })
    return { selectors: new SelectorsOfQuery(query.toString()) }
  }

  /** As expressions read it: the stored object, or its form for clients. */
  namespaceIn (live: ApiObject | undefined): unknown {
    if (live === undefined) return null
    const { names } = this.#tools
    const read = names.renames ? names.object(toJson(Namespace, live as Namespace)) as ApiObject : live
    const { metadata: { uid, ...metadata }, ...rest } = read
    return { ...rest, metadata: { ...metadata, UID: uid } }
  }

  /** Answers hold for the request. */
  ask (asked: Asked, verb: string): Answered | Promise<Answered> {
    const key = JSON.stringify([asked, verb])
    let answer = this.#answers.get(key)
    if (answer === undefined) this.#answers.set(key, answer = this.#answer(asked, verb))
    return answer
  }

  /** What expressions ask has the names of clients. */
  async #answer (sent: Asked, verb: string): Promise<Answered> {
    const asked = this.named(sent)
    const { path, serviceAccount, group = '', resource = '', subresource = '', namespace = '', name = '' } = asked
    const info = path === undefined
      ? resourceRequest({
          verb, version: '*', group, resource, subresource, namespace, name, ...this.#selectorsOf(asked)
        })
      : pathRequest(path, verb)
    const user = serviceAccount === undefined ? this.#request.user ?? NOBODY : accountUser(serviceAccount)
    const { decision, reason = '', evaluationError } = await this.#tools.authorize({ user, info })
    return {
      allowed: decision === 'Allow', reason,
      ...(evaluationError === undefined ? {} : { error: reasonOf(evaluationError) })
    }
  }
}

/** Members are made when they are first read. Others may extend it, so that its state is in plain members. */
class RequestValues {
  readonly variables = NO_VARIABLES
  readonly made: Record<string, unknown> = {}

  constructor (
    readonly of: RequestVariables, readonly admitted: AdmissionRequest, readonly requested: RequestedKind,
    readonly live: ApiObject | undefined
  ) {}

  get object (): unknown { return this.made['object'] ??= this.of.read(this.requested, this.admitted.object) }
  get oldObject (): unknown { return this.made['old'] ??= this.of.read(this.requested, this.admitted.oldObject) }
  get request (): unknown { return this.made['request'] ??= this.of.reviewed(this.requested) }
  get namespaceObject (): unknown { return this.made['namespace'] ??= this.of.namespaceIn(this.live) }
  get authorizer (): unknown { return this.made['authorizer'] ??= new Authorizer(this.ask) }

  get 'authorizer.requestResource' (): unknown {
    const { requested: { group, plural: resource }, subresource, namespace, name } = this.admitted
    return this.made['check'] ??=
      new Check('resource_check', this.ask, this.of.named({ group, resource, subresource, namespace, name }))
  }

  get ask (): Ask { return (asked, verb) => this.of.ask(asked, verb) }
}

const accountUser = ({ namespace: of, name }: NonNullable<Asked['serviceAccount']>): UserInfo => ({
  username: serviceAccountUsername(of, name), uid: '', groups: [...serviceAccountGroups(of), 'system:authenticated'],
  extra: {}
})

const NOBODY: UserInfo = { username: '', uid: '', groups: [], extra: {} }
