/** What gRPC and etcd say in words alone; `storage/etcd/failures.ts` names the tests of what etcd itself says. */
import t from 'tap'
import { CallError } from '../../../storage/etcd/failures.js'
import { isStorageError } from '../../../storage/errors.js'
import { openBackend } from '../../../storage/open.js'

for (const [what, server] of [
  ['nobody listens', 'http://127.0.0.1:9'], ['the name is none', 'http://etcd.invalid:2379']
] as const) {
  t.test(`${what}: a call through grpc-js was not sent, and its failure says why in a few words`, async t => {
    const backend = await openBackend({ kind: 'etcd', servers: [server] })
    t.teardown(() => backend.close())
    const error: unknown = await backend.lease(10).catch((error: unknown) => error)
    if (!isStorageError(error, 'Unavailable') || !(error.cause instanceof CallError)) throw error as Error
    t.equal(error.cause.sent, false)
    t.ok(error.message.startsWith(`a call to etcd failed: ${server}: `), error.message)
    t.notMatch(error.message, /No connection established|Resolution note/)
  })
}
