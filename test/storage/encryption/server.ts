/** Servers with encryption at rest, over a store whose bytes tests look at. */
import Fastify from '../../fastify.js'
import orch, { type ServerOptions } from '../../../app.js'
import type { EncryptionOptions } from '../../../schemas/api/apiserver/encryption.js'
import type { StorageOptions } from '../../../plugins/storage/index.js'
import type { Backend } from '../../../storage/backend.js'
import { client, type Client, type Test } from '../../build.js'
import { polled } from '../../polled.js'

export const SECRETS = '/api/v1/namespaces/default/secrets'

export interface Served extends Client {
  readonly url: string
  readonly log: string[]
  readonly close: () => Promise<void>
  /** Resolves when that endpoint answers with that status. */
  readonly reach: (path: string, code: number) => Promise<void>
}

/** A server on a store that outlives it. The server may be unready. */
export async function serve (
  t: Test, store: Backend, encryption: EncryptionOptions | undefined, options: Omit<ServerOptions, 'storage'> = {},
  more: Pick<StorageOptions, 'eventTtl' | 'encryptionFile'> = {}
): Promise<Served> {
  const log: string[] = []
  const app = Fastify({
    forceCloseConnections: true, logger: { level: 'trace', stream: { write: (line: string) => { log.push(line) } } }
  })
  await app.register(orch, {
    ...options, storage: { ...viewOf(store), ...(encryption === undefined ? {} : { encryption }), ...more }
  })
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  let closing: Promise<void> | undefined
  const close = (): Promise<void> => closing ??= app.close()
  t.teardown(close)
  const made = client(app)
  const reach = async (path: string, code: number): Promise<void> => {
    await polled(async () => (await made.get(path)).code === code)
  }
  return { ...made, url, log, close, reach }
}

/** The methods of a store, to which options can be added. */
function viewOf (store: Backend): Backend {
  const methods = [
    'get', 'list', 'count', 'create', 'update', 'delete', 'watch', 'compact', 'compactedRevision', 'revision',
    'revisionNow', 'status', 'lease', 'close'
  ] as const
  return Object.assign({ name: store.name }, ...methods.map(name => ({ [name]: store[name].bind(store) }))) as Backend
}

export const secret = (name: string, text: string): object => ({ metadata: { name }, stringData: { text } })

/** The text of a Secret that was read. */
export const textOf = (object: { data?: { text?: string } }): string =>
  Buffer.from(object.data?.text ?? '', 'base64').toString()

export const storedAt = async (store: Backend, key: string): Promise<string> =>
  Buffer.from((await store.get(key)).kv?.value ?? '').toString('latin1')
