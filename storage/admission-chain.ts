/** Runs admission plugins in order: first all that may change the object, after validation all that only judge. */
import { badRequest } from '../schemas/status.js'
import type { AdmissionPlugin, AdmissionRequest } from './admission.js'

export class AdmissionChain {
  readonly #plugins: AdmissionPlugin[]

  constructor (plugins: readonly AdmissionPlugin[] = []) { this.#plugins = [...plugins] }

  /** @throws StatusError of the plugin that refuses; 400 when a dry run would have side effects. */
  async mutate (request: AdmissionRequest): Promise<void> {
    for (const plugin of this.#plugins) {
      if (!plugin.handles(request)) continue
      if (request.dryRun && plugin.sideEffects === true) {
        throw badRequest(`admission plugin ${JSON.stringify(plugin.name)} has side effects and does not support dry run`)
      }
      if (plugin.mutate !== undefined) await plugin.mutate(request)
    }
  }

  /** @throws StatusError of the plugin that refuses. */
  async validate (request: AdmissionRequest): Promise<void> {
    for (const plugin of this.#plugins) {
      if (plugin.validate !== undefined && plugin.handles(request)) await plugin.validate(request)
    }
  }
}
