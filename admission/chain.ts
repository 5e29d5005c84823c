/** Runs admission plugins in order: first all that may change the object, after validation all that only judge. */
import { badRequest } from '../schemas/status.js'
import { stringify } from '../schemas/index.js'
import { during } from '../registry/trace.js'
import type { Admission, AdmissionPlugin, AdmissionRequest, AdmissionRule, Pass } from '../registry/admission.js'

const among = <T>(wanted: readonly T[] | '*', value: T): boolean => wanted === '*' || wanted.includes(value) || wanted.includes('*' as T)

function resourceAmong (wanted: AdmissionRule['resources'], resource: string, subresource: string): boolean {
  if (wanted === '*') return subresource === ''
  const whole = subresource === '' ? resource : `${resource}/${subresource}`
  return wanted.some(one => one === whole || one === '*/*' || (one === '*' && subresource === '') ||
    (subresource !== '' && (one === `${resource}/*` || one === `*/${subresource}`)))
}

/** Whether a plugin is asked about a request. */
export function handles ({ handles: rules }: AdmissionPlugin, request: AdmissionRequest): boolean {
  if (typeof rules === 'function') return rules(request)
  return rules.some(({ operations, groups, resources }) =>
    among(operations, request.operation) && among(groups, request.group) && resourceAmong(resources, request.resource, request.subresource))
}

/** Of those whose rules match, whether a plugin that says it of each request wants this one. */
const asksForIt = ({ handles: rules }: AdmissionPlugin, request: AdmissionRequest): boolean => typeof rules !== 'function' || rules(request)

/** Operations on resources that are remembered: more than there are, but types defined at run time come and go. */
const MOST_KNOWN = 10_000

export type Phase = 'admit' | 'validate'

/** Told of each time a plugin was asked, and with '' in place of its name of all of them together. */
export type ObserveAdmission = (plugin: string, phase: Phase, request: AdmissionRequest, rejected: boolean, seconds: number) => void

export class AdmissionChain implements Admission {
  readonly #plugins: readonly AdmissionPlugin[]
  readonly #ofHost: ReadonlySet<AdmissionPlugin>
  readonly #reinvokes: boolean

  readonly #observe: ObserveAdmission | undefined
  /** By operation and resource: those whose rules match, and those that say it of each request. */
  readonly #concerned = new Map<string, readonly AdmissionPlugin[]>()

  /** @param ofHost those that are not the server's own: what they make of a new object belongs to whoever creates it */
  constructor (plugins: readonly AdmissionPlugin[] = [], observe?: ObserveAdmission, ofHost: readonly AdmissionPlugin[] = []) {
    this.#plugins = [...plugins]
    this.#ofHost = new Set(ofHost)
    this.#observe = observe
    this.#reinvokes = plugins.some(({ reinvocation, mutate }) => reinvocation === true && mutate !== undefined)
  }

  /**
   * Those that asked for it run a second time when a later one has changed the object, and all of them when one says so; no more than that.
   * @throws StatusError of the plugin that refuses; 400 when a dry run would have side effects.
   */
  async mutate (request: AdmissionRequest): Promise<void> { await traced('Mutating admission', request, () => this.#observed('', 'admit', request, () => this.#mutate(request))) }

  /** @throws StatusError of the plugin that refuses. */
  async validate (request: AdmissionRequest): Promise<void> { await traced('Validating admission', request, () => this.#observed('', 'validate', request, () => this.#validate(request))) }

  /** Those that are asked about a request, in order. */
  #pluginsFor (request: AdmissionRequest): readonly AdmissionPlugin[] {
    const { operation, group, resource, subresource } = request
    const key = `${operation} ${group}/${resource}/${subresource}`
    let found = this.#concerned.get(key)
    if (found === undefined) {
      if (this.#concerned.size >= MOST_KNOWN) this.#concerned.clear()
      this.#concerned.set(key, found = this.#plugins.filter(plugin => typeof plugin.handles === 'function' || handles(plugin, request)))
    }
    return found
  }

  async #mutate (request: AdmissionRequest): Promise<void> {
    const again: Array<{ readonly plugin: AdmissionPlugin, readonly left: string | undefined }> = []
    const state = (): string | undefined => this.#reinvokes && request.object !== undefined ? stringify(request.object) : undefined
    const pass = new MutatingPass()
    const asked = this.#pluginsFor(request)
    for (const plugin of asked) {
      if (!asksForIt(plugin, request)) continue
      if (request.dryRun && plugin.sideEffects === true) {
        throw badRequest(`admission plugin ${JSON.stringify(plugin.name)} has side effects and does not support dry run`)
      }
      if (plugin.mutate === undefined) continue
      const pending = this.#change(plugin, request, pass)
      if (pending !== undefined) await pending
      if (plugin.reinvocation === true) again.push({ plugin, left: state() })
    }
    if (pass.wanted) {
      pass.round = 1
      for (const plugin of asked) if (plugin.mutate !== undefined && asksForIt(plugin, request)) await this.#change(plugin, request, pass)
      return
    }
    if (again.length === 0) return
    pass.round = 1
    const end = state()
    for (const { plugin, left } of again) if (left !== end) await this.#change(plugin, request, pass)
  }

  #change (plugin: AdmissionPlugin, request: AdmissionRequest, pass: Pass): void | Promise<void> {
    const done = this.#ofHost.has(plugin) ? request.claim?.() : undefined
    const pending = this.#observed(plugin.name, 'admit', request, () => plugin.mutate?.(request, pass))
    if (done === undefined) return pending
    return pending === undefined ? done() : pending.then(done)
  }

  async #validate (request: AdmissionRequest): Promise<void> {
    for (const plugin of this.#pluginsFor(request)) {
      if (plugin.validate !== undefined && asksForIt(plugin, request)) {
        const pending = this.#observed(plugin.name, 'validate', request, () => plugin.validate?.(request))
        if (pending !== undefined) await pending
      }
    }
  }

  /** A promise only where what is asked gives one: most plugins answer at once. */
  #observed (plugin: string, phase: Phase, request: AdmissionRequest, ask: () => void | Promise<void>): void | Promise<void> {
    const observe = this.#observe
    if (observe === undefined) return ask()
    const since = performance.now()
    const tell = (rejected: boolean): void => { observe(plugin, phase, request, rejected, (performance.now() - since) / 1000) }
    let pending: void | Promise<void>
    try {
      pending = ask()
    } catch (error) {
      tell(true)
      throw error
    }
    if (pending === undefined) return tell(false)
    return pending.then(() => { tell(false) }, (error: unknown) => {
      tell(true)
      throw error
    })
  }
}

/** What plugins do meanwhile is a part of that phase. */
async function traced (phase: string, request: AdmissionRequest, ask: () => void | Promise<void>): Promise<void> {
  const { trace } = request
  await during(trace, phase, async part => {
    request.trace = part
    try {
      await ask()
    } finally {
      request.trace = trace
    }
  })
}

class MutatingPass implements Pass {
  round: 0 | 1 = 0
  wanted = false
  again (): void { this.wanted = true }
}
