/** ComponentStatus, deprecated: health of the stores. Other components are not known to the server. */
import type { ComponentStatus } from '../../schemas/api/core/componentstatuses.js'
import type { Backend } from '../../storage/backend.js'
import { reasonOf } from '../../storage/errors.js'
import { unwrap } from '../../storage/wrapped.js'
import type { Source } from '../../registry/resource-registry.js'

/** Maximum milliseconds for a store's health check. */
const TIMEOUT_MS = 2000

type Store = Pick<Backend, 'status'>

export const componentStatuses = (
  resources: { readonly all: () => ReadonlyArray<{ readonly backend: Store }> }
): Source => async () => {
  const backends = new Set(resources.all().map(({ backend }) => unwrap(backend)))
  return await Promise.all([...backends].map(async (backend, at) => statusOf(`etcd-${at}`, await problemOf(backend))))
}

function statusOf (name: string, problem: string | undefined): ComponentStatus {
  const condition = problem === undefined
    ? { type: 'Healthy', status: 'True', message: 'ok' }
    : { type: 'Healthy', status: 'False', error: problem }
  return { kind: 'ComponentStatus', apiVersion: 'v1', metadata: { name }, conditions: [condition] }
}

async function problemOf (backend: Store): Promise<string | undefined> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => { reject(new Error(`no answer within ${TIMEOUT_MS} ms`)) }, TIMEOUT_MS)
  })
  try {
    await Promise.race([backend.status(), late])
    return undefined
  } catch (error) {
    return reasonOf(error)
  } finally {
    clearTimeout(timer)
  }
}
