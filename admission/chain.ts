/** Runs admission plugins in order: first all mutating ones, after validation all validating ones. */
import { badRequest, type FieldError } from '../schemas/status.js'
import { stringify } from '../schemas/codec/json/exact.js'
import type {
  Admission, AdmissionPlugin, AdmissionRequest, AdmissionRule, ForeignChange, Pass, Precondition
} from '../registry/admission.js'
import { MutatingPass } from './mutating-pass.js'

const matches = <T>(wanted: readonly T[] | '*', value: T): boolean => wanted === '*' || wanted.includes(value) ||
  wanted.includes('*' as T)

function resourceAmong (wanted: AdmissionRule['resources'], resource: string, subresource: string): boolean {
  if (wanted === '*') return subresource === ''
  const whole = subresource === '' ? resource : `${resource}/${subresource}`
  return wanted.some(pattern => pattern === whole || pattern === '*/*' || (pattern === '*' && subresource === '') ||
    (subresource !== '' && (pattern === `${resource}/*` || pattern === `*/${subresource}`)))
}

/** Whether a plugin handles a request. */
export function handles ({ handles: rules }: AdmissionPlugin, request: AdmissionRequest): boolean {
  if (typeof rules === 'function') return rules(request)
  return rules.some(({ operations, groups, resources }) =>
    matches(operations, request.operation) && matches(groups, request.group) &&
      resourceAmong(resources, request.resource, request.subresource))
}

/** Evaluates the predicate of a plugin; rules have been matched before. */
const matchesPredicate = ({ handles: rules }: AdmissionPlugin, request: AdmissionRequest): boolean =>
  typeof rules !== 'function' || rules(request)

/** Limit of cached keys, because custom types come and go. */
const MAX_CACHED = 10_000

export type Phase = 'admit' | 'validate'

/** Receives each plugin call, and with an empty name each phase as a whole. */
export type ObserveAdmission = (call: AdmissionCall, rejected: boolean, seconds: number) => void

/** Of a plugin, or with an empty name of a phase as a whole. */
export interface AdmissionCall {
  readonly plugin: string
  readonly phase: Phase
  readonly request: AdmissionRequest
}

export class AdmissionChain implements Admission {
  readonly #plugins: readonly AdmissionPlugin[]
  readonly #ofHost: ReadonlySet<AdmissionPlugin>
  readonly #reinvokes: boolean
  /** Whether any plugin has findings; if none has, a write does not look for them. */
  readonly #finds: boolean

  readonly #observe: ObserveAdmission | undefined
  /** By operation and resource: plugins whose rules match, and those with a predicate. */
  readonly #pluginsByKey = new Map<string, readonly AdmissionPlugin[]>()

  /** @param ofHost the host's plugins: fields that they change in a new object belong to its creator */
  constructor (
    plugins: readonly AdmissionPlugin[] = [], observe?: ObserveAdmission, ofHost: readonly AdmissionPlugin[] = []
  ) {
    this.#plugins = [...plugins]
    this.#ofHost = new Set(ofHost)
    this.#observe = observe
    this.#finds = plugins.some(({ findings }) => findings !== undefined)
    this.#reinvokes = plugins.some(({ reinvocation, mutate }) => reinvocation === true && mutate !== undefined)
  }

  /**
   * Runs all mutating plugins. If a later one changed the object, plugins with `reinvocation` run again; if a webhook
   * requested it, all do. At most one reinvocation.
   * @throws StatusError of the plugin that refuses; 400 when a dry run would have side effects
   */
  async mutate (request: AdmissionRequest, tracksForeign = false): Promise<readonly ForeignChange[]> {
    const pass = new MutatingPass(tracksForeign)
    await this.#observed({ plugin: '', phase: 'admit', request }, () => this.#mutate(request, pass))
    return pass.foreignChanges
  }

  /** @returns the preconditions of all plugins that have one @throws StatusError of the plugin that refuses */
  async validate (request: AdmissionRequest): Promise<readonly Precondition[]> {
    return await this.#observed({ plugin: '', phase: 'validate', request }, () => this.#validate(request))
  }

  findings (request: AdmissionRequest): readonly FieldError[] | Promise<readonly FieldError[]> {
    if (!this.#finds) return []
    const asked = this.#pluginsFor(request).filter(plugin => plugin.findings !== undefined &&
      matchesPredicate(plugin, request))
    if (asked.length === 0) return []
    return Promise.all(asked.map(async ({ findings }) => await findings?.(request) ?? [])).then(all => all.flat())
  }

  /** The plugins for a request, in order. */
  #pluginsFor (request: AdmissionRequest): readonly AdmissionPlugin[] {
    const { operation, group, resource, subresource } = request
    const key = `${operation} ${group}/${resource}/${subresource}`
    let plugins = this.#pluginsByKey.get(key)
    if (plugins === undefined) {
      if (this.#pluginsByKey.size >= MAX_CACHED) this.#pluginsByKey.clear()
      this.#pluginsByKey.set(
        key, plugins = this.#plugins.filter(plugin => typeof plugin.handles === 'function' || handles(plugin, request))
      )
    }
    return plugins
  }

  async #mutate (request: AdmissionRequest, pass: MutatingPass): Promise<void> {
    const again: Array<{ readonly plugin: AdmissionPlugin, readonly left: string | undefined }> = []
    const state = (): string | undefined =>
      this.#reinvokes && request.object !== undefined ? stringify(request.object) : undefined
    const plugins = this.#pluginsFor(request)
    for (const plugin of plugins) {
      if (!matchesPredicate(plugin, request)) continue
      if (request.dryRun && plugin.sideEffects === true) {
        throw badRequest(
          `admission plugin ${JSON.stringify(plugin.name)} has side effects and does not support dry run`
        )
      }
      if (plugin.mutate === undefined) continue
      const pending = this.#mutateWith(plugin, request, pass)
      if (pending !== undefined) await pending
      if (plugin.reinvocation === true) again.push({ plugin, left: state() })
    }
    if (pass.isRepeated) {
      pass.round = 1
      for (const plugin of plugins) {
        if (plugin.mutate !== undefined &&
        matchesPredicate(plugin, request)) await this.#mutateWith(plugin, request, pass)
      }
      return
    }
    if (again.length === 0) return
    pass.round = 1
    const end = state()
    for (const { plugin, left } of again) if (left !== end) await this.#mutateWith(plugin, request, pass)
  }

  #mutateWith (plugin: AdmissionPlugin, request: AdmissionRequest, pass: Pass): void | Promise<void> {
    const done = this.#ofHost.has(plugin) ? pass.beforeForeign(request.object) : undefined
    const call = { plugin: plugin.name, phase: 'admit', request } as const
    const pending = this.#observed(call, () => plugin.mutate?.(request, pass))
    if (done === undefined) return pending
    return pending === undefined ? done() : pending.then(done)
  }

  async #validate (request: AdmissionRequest): Promise<readonly Precondition[]> {
    const preconditions: Precondition[] = []
    for (const plugin of this.#pluginsFor(request)) {
      if (plugin.validate !== undefined && matchesPredicate(plugin, request)) {
        const call = { plugin: plugin.name, phase: 'validate', request } as const
        const returned = this.#observed(call, () => plugin.validate?.(request))
        const precondition = returned instanceof Promise ? await returned : returned
        if (precondition !== undefined) preconditions.push(precondition)
      }
    }
    return preconditions
  }

  /** Returns a promise only if the plugin does: most are synchronous. */
  #observed<T> (call: AdmissionCall, ask: () => T | Promise<T>): T | Promise<T> {
    const observe = this.#observe
    if (observe === undefined) return ask()
    const since = performance.now()
    const report = (rejected: boolean): void => { observe(call, rejected, (performance.now() - since) / 1000) }
    let returned: T | Promise<T>
    try {
      returned = ask()
    } catch (error) {
      report(true)
      throw error
    }
    if (returned instanceof Promise) {
      return returned.then(value => {
        report(false)
        return value
      }, (error: unknown) => {
        report(true)
        throw error
      })
    }
    report(false)
    return returned
  }
}
