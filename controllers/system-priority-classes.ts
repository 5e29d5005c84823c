/** Creates the system priority classes at start-up. */
import type { PriorityClass } from '../schemas/api/scheduling/priorityclasses.js'
import { isStatusError } from '../schemas/status.js'
import { create } from '../registry/verbs/create.js'
import { AtStart } from './at-start.js'
import { objectExists } from './controller.js'
import { serverContext } from '../registry/write-context.js'

const CLASSES: ReadonlyArray<readonly [name: string, value: number, description: string]> = [
  ['system-node-critical', 2_000_001_000,
    'Used for system critical pods that must not be moved from their current node.'
  ],
  ['system-cluster-critical', 2_000_000_000,
    'Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.'
  ]
]

export class SystemPriorityClasses extends AtStart {
  protected async make (): Promise<void> {
    const store = this.options.resources.find('scheduling.orch.io', 'priorityclasses')
    if (store === undefined) return
    await this.each(CLASSES, async ([name, value, description]) => {
      if (await objectExists(store, store.keys.of('', name))) return
      const object: PriorityClass = {
        kind: 'PriorityClass', apiVersion: 'scheduling.orch.io/v1', metadata: { name }, value, description,
        preemptionPolicy: 'PreemptLowerPriority'
      }
      await create(store, object, { namespace: '', name: '' }, serverContext(this.closing)).catch((error: unknown) => {
        if (!isStatusError(error, 'AlreadyExists')) throw error
      })
    })
  }
}
