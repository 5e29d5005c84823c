/**
 * The config map that says since when uses of tokens that are kept in Secrets are tracked: what was not used since then
 * may be unused for longer. The label of a Secret says when its token was used last.
 */
import { isStatusError } from '../schemas/status.js'
import type { ApiObject } from '../schemas/meta/api-object.js'
import { create } from '../registry/verbs/create.js'
import { serverContext } from '../registry/write-context.js'
import { systemClock } from '../event-loop/clock.js'
import { AtStart } from './at-start.js'
import { objectExists } from './controller.js'

const NAMESPACE = 'orch-system'
const NAME = 'orch-apiserver-legacy-service-account-token-tracking'

export class TokenTracking extends AtStart {
  protected async make (): Promise<void> {
    const { resources, clock = systemClock } = this.options
    const store = resources.find('', 'configmaps')
    if (store === undefined || await objectExists(store, store.keys.of(NAMESPACE, NAME))) return
    const since = new Date(clock.wall()).toISOString().slice(0, 'YYYY-MM-DD'.length)
    const object: ApiObject & { data: Record<string, string> } = {
      kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: NAME, namespace: NAMESPACE }, data: { since }
    }
    await create(store, object, { namespace: NAMESPACE, name: '' }, serverContext(this.closing)).catch(
      (error: unknown) => { if (!isStatusError(error, 'AlreadyExists')) throw error })
  }
}
