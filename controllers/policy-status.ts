/**
 * Writes what checking the types of a validating policy's expressions has found into its status. Silent where a
 * controller manager leads, which does the same.
 */
import type { ValidatingAdmissionPolicy } from '../schemas/api/admissionregistration/validating-policies.js'
import { expressionWarnings } from '../admission/policies/type-checking.js'
import { isStorageError } from '../storage/errors.js'
import { current } from '../registry/current.js'
import { change } from '../registry/verbs/change.js'
import { serverContext, type WriteContext } from '../registry/write-context.js'
import { isStatusError } from '../schemas/status.js'
import type { Controller, ControllerOptions } from './controller.js'
import { isLed } from './controller-manager.js'
import { Informer } from './informer.js'
import { WorkQueue, type Verdict } from './work-queue.js'

/** Milliseconds from a change to the check, so that it does not conflict with clients that change a policy at once. */
const SETTLE_MS = 250
/** Milliseconds until policies that a controller manager should have checked are looked at again. */
const LED_MS = 30_000

export interface PolicyStatusOptions extends ControllerOptions {
  /** A group as clients know it. Default its own name. */
  readonly named?: ((group: string) => string) | undefined
}

export class PolicyStatus implements Controller {
  readonly #options: PolicyStatusOptions
  readonly #queue: WorkQueue
  #context: WriteContext | undefined
  #informer: Informer | undefined

  constructor (options: PolicyStatusOptions) {
    this.#options = options
    this.#queue = new WorkQueue({
      workers: 1,
      work: (name, signal) => this.#reconcile(name, this.#context ??= serverContext(signal)),
      failed: (name, error) => {
        if (!isStorageError(error, 'Closed')) options.log(`policy ${name} could not be checked, retrying`, error)
      },
      name: 'validatingadmissionpolicy-status',
      observe: options.observeQueue,
      ...(options.clock === undefined ? {} : { clock: options.clock })
    })
  }

  async start (): Promise<void> {
    const { resources, log, clock } = this.#options
    const store = resources.find('admissionregistration.orch.io', 'validatingadmissionpolicies')
    if (store === undefined) return
    this.#informer?.close()
    const changed = ({ name }: { readonly name: string }): void => { this.#queue.addAfter(name, SETTLE_MS) }
    this.#informer = new Informer({ store, log, handlers: [{ changed }], ...(clock === undefined ? {} : { clock }) })
    await this.#informer.start()
  }

  async close (): Promise<void> {
    this.#informer?.close()
    await this.#queue.close()
  }

  async #reconcile (name: string, context: WriteContext): Promise<Verdict> {
    const { resources, named } = this.#options
    const store = resources.find('admissionregistration.orch.io', 'validatingadmissionpolicies')
    const entry = store === undefined ? undefined : await current(store, store.keys.of('', name))
    if (store === undefined || entry === undefined) return 'done'
    const { metadata: { generation = 0 }, spec = {}, status } = store.entries.read(entry) as ValidatingAdmissionPolicy
    if (generation <= Number(status?.observedGeneration ?? 0)) return 'done'
    if (await isLed(this.#options)) {
      this.#queue.addAfter(name, LED_MS)
      return 'done'
    }
    const warnings = await expressionWarnings(spec, resources, named)
    try {
      await change(store, { namespace: '', name, subresource: 'status' }, context, base => {
        const policy = base.copy() as ValidatingAdmissionPolicy // stores of policies contain policies
        policy.metadata.resourceVersion = String(entry.revision)
        policy.status = {
          ...policy.status, observedGeneration: generation,
          typeChecking: warnings.length === 0 ? {} : { expressionWarnings: warnings }
        }
        return policy
      })
      return 'done'
    } catch (error) {
      if (isStatusError(error, 'NotFound')) return 'done'
      if (isStatusError(error, 'Conflict')) return 'later'
      throw error
    }
  }
}
