/** Runs admission plugins in order: first all that may change the object, after validation all that only judge. */
import { badRequest } from '../../schemas/status.js'
import { stringify } from '../../schemas/index.js'
import { during } from '../../schemas/trace.js'
import type { AdmissionPlugin, AdmissionRequest, AdmissionRule, Pass } from './contract.js'

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

export type Phase = 'admit' | 'validate'

/** Told of each time a plugin was asked, and with '' in place of its name of all of them together. */
export type ObserveAdmission = (plugin: string, phase: Phase, request: AdmissionRequest, rejected: boolean, seconds: number) => void

export class AdmissionChain {
  readonly #plugins: readonly AdmissionPlugin[]
  readonly #ofHost: ReadonlySet<AdmissionPlugin>
  readonly #reinvokes: boolean

  readonly #observe: ObserveAdmission | undefined

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

  async #mutate (request: AdmissionRequest): Promise<void> {
    const again: Array<{ readonly plugin: AdmissionPlugin, readonly left: string | undefined }> = []
    const state = (): string | undefined => this.#reinvokes && request.object !== undefined ? stringify(request.object) : undefined
    const pass = new Way()
    for (const plugin of this.#plugins) {
      if (!handles(plugin, request)) continue
      if (request.dryRun && plugin.sideEffects === true) {
        throw badRequest(`admission plugin ${JSON.stringify(plugin.name)} has side effects and does not support dry run`)
      }
      if (plugin.mutate === undefined) continue
      await this.#change(plugin, request, pass)
      if (plugin.reinvocation === true) again.push({ plugin, left: state() })
    }
    if (pass.wanted) {
      pass.round = 1
      for (const plugin of this.#plugins) if (plugin.mutate !== undefined && handles(plugin, request)) await this.#change(plugin, request, pass)
      return
    }
    if (again.length === 0) return
    pass.round = 1
    const end = state()
    for (const { plugin, left } of again) if (left !== end) await this.#change(plugin, request, pass)
  }

  async #change (plugin: AdmissionPlugin, request: AdmissionRequest, pass: Pass): Promise<void> {
    const done = this.#ofHost.has(plugin) ? request.claim?.() : undefined
    await this.#observed(plugin.name, 'admit', request, () => plugin.mutate?.(request, pass))
    done?.()
  }

  async #validate (request: AdmissionRequest): Promise<void> {
    for (const plugin of this.#plugins) {
      if (plugin.validate !== undefined && handles(plugin, request)) await this.#observed(plugin.name, 'validate', request, () => plugin.validate?.(request))
    }
  }

  async #observed (plugin: string, phase: Phase, request: AdmissionRequest, ask: () => void | Promise<void>): Promise<void> {
    const observe = this.#observe
    if (observe === undefined) return await ask()
    const since = performance.now()
    let rejected = true
    try {
      await ask()
      rejected = false
    } finally {
      observe(plugin, phase, request, rejected, (performance.now() - since) / 1000)
    }
  }
}

/** What plugins do meanwhile is a part of that phase. */
async function traced (phase: string, request: AdmissionRequest, ask: () => Promise<void>): Promise<void> {
  const { trace } = request
  await during(trace, phase, async part => {
    request.trace = part
    await ask().finally(() => { request.trace = trace })
  })
}

class Way implements Pass {
  round: 0 | 1 = 0
  wanted = false
  again (): void { this.wanted = true }
}
