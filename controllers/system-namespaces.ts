/** Creates the system namespaces at start-up. */
import type { ApiObject } from '../schemas/meta/api-object.js'
import { isStatusError } from '../schemas/status.js'
import { create } from '../registry/verbs/create.js'
import { AtStart } from './at-start.js'
import { objectExists, type ControllerOptions } from './controller.js'
import { serverContext } from '../registry/write-context.js'

const SYSTEM_NAMESPACES = ['default', 'orch-system', 'orch-public', 'orch-node-lease']

export interface SystemNamespacesOptions extends ControllerOptions {
  /** Additional namespaces to create. */
  readonly more?: readonly string[] | undefined
}

export class SystemNamespaces extends AtStart<SystemNamespacesOptions> {
  protected async make (): Promise<void> {
    const store = this.options.resources.find('', 'namespaces')
    if (store === undefined) return
    await this.each([...new Set([...SYSTEM_NAMESPACES, ...this.options.more ?? []])], async name => {
      if (await objectExists(store, store.keys.of('', name))) return
      // as decoded from `{metadata: {name}}`
      const object =
        { kind: 'Namespace', apiVersion: 'v1', metadata: { name }, spec: {}, status: {} } as unknown as ApiObject
      await create(store, object, { namespace: '', name: '' }, serverContext(this.closing)).catch((error: unknown) => {
        if (!isStatusError(error, 'AlreadyExists')) throw error
      })
    })
  }
}
