/**
 * The compared writers, all in this process: our operations (decode, default, admit, validate, encode, store) and, as
 * limits, the layers below them alone, with the same compare-and-put of values of the same size.
 */
import { join } from 'node:path'
import { parseJson } from '../../schemas/codec/json/parse.js'
import { encodeProtobuf } from '../../schemas/codec/protobuf/encode.js'
import { decode } from '../../schemas/language/decode.js'
import { configMaps } from '../stored.js'
import { AdmissionChain } from '../../admission/chain.js'
import type { WriteResult } from '../../storage/backend.js'
import { Connection } from '../../storage/etcd/connection.js'
import { openBackend, type BackendOptions } from '../../storage/open.js'
import { create } from '../../registry/verbs/create.js'
import { update } from '../../registry/verbs/update.js'
import { ResourceStore } from '../../registry/resource-store.js'
import { object } from './objects.js'

/** The input of a write: a name, and the object of that name as a client sends it. */
export interface Request { readonly name: string, readonly body: Buffer }

export interface Writer {
  create: (request: Request) => Promise<unknown>
  /** Updates an object that `create` made. */
  update: (request: Request) => Promise<unknown>
  close: () => Promise<unknown>
}

const read = (body: Buffer) => decode(configMaps.message, parseJson(body).value).object

/** The stored bytes of a benchmark object; the last byte distinguishes two versions. */
function storedValue (last: number): Buffer {
  const value = Buffer.from(encodeProtobuf(configMaps.message, read(Buffer.from(object('object-0-0000000')))))
  value[value.length - 1] = last
  return value
}

function refused (name: string): never {
  throw new Error(`the write of ${name} was refused`)
}

export async function ourOperations (options: BackendOptions): Promise<Writer> {
  const backend = await openBackend(options)
  const store = new ResourceStore({
    type: configMaps.type, backend, prefix: '/registry', mediaType: 'application/vnd.orch.protobuf',
    admission: new AdmissionChain(), windowSize: 100, log: console.error
  })
  await store.open()
  const caller = new AbortController()
  const context = { dryRun: false, caller }
  return {
    create: ({ body }) => create(store, read(body), { namespace: 'default', name: '' }, context),
    update: ({ name, body }) => update(store, read(body), { namespace: 'default', name }, context),
    close: async () => {
      store.close()
      await backend.close()
    }
  }
}

/** The embedded store alone. */
export async function storeAlone (directory: string): Promise<Writer> {
  const backend = await openBackend({ kind: 'embedded', directory })
  const revisions = new Map<string, number>()
  const [first, second] = [storedValue(1), storedValue(2)]
  const written = (name: string, { succeeded, revision }: WriteResult): void => {
    if (!succeeded) refused(name)
    revisions.set(name, revision)
  }
  return {
    create: async ({ name }) => { written(name, await backend.create(`/alone/${name}`, first)) },
    update: async ({ name }) => {
      written(name, await backend.update(`/alone/${name}`, second, revisions.get(name) ?? 0))
    },
    close: () => backend.close()
  }
}

/** A plain commit that is synced before it answers, as in our embedded store. */
export async function lmdbAlone (folder: string): Promise<Writer> {
  const { open } = await import('lmdb')
  const table = open<Buffer, string>({
    path: join(folder, 'alone.mdb'), noSubdir: true, encoding: 'binary', overlappingSync: false, useVersions: true
  })
  const [first, second] = [storedValue(1), storedValue(2)]
  return {
    create: async ({ name }) => await table.ifNoExists(name, () => { void table.put(name, first, 1) }) || refused(name),
    update: async ({ name }) =>
      await table.ifVersion(name, 1, () => { void table.put(name, second, 2) }) || refused(name),
    close: () => table.close()
  }
}

/** Our connection to etcd alone. */
export async function lineAlone (server: string): Promise<Writer> {
  const line = new Connection({ servers: [server] })
  const revisions = new Map<string, number>()
  const [first, second] = [storedValue(1), storedValue(2)]
  const write = async (name: string, value: Buffer, expected: number): Promise<void> => {
    const { succeeded, revision } = await line.txn({
      key: Buffer.from(`/alone/${name}`), expected, value, lease: undefined
    })
    if (!succeeded) refused(name)
    revisions.set(name, revision)
  }
  return {
    create: ({ name }) => write(name, first, 0),
    update: ({ name }) => write(name, second, revisions.get(name) ?? 0),
    close: async () => { line.close() }
  }
}

export async function etcd3Alone (server: string): Promise<Writer> {
  const { Etcd3 } = await import('etcd3')
  const client = new Etcd3({ hosts: server })
  const [first, second] = [storedValue(1), storedValue(2)]
  const write = async (
    name: string, compared: 'Create' | 'Version', expected: number, value: Buffer
  ): Promise<void> => {
    const key = `/etcd3/${name}`
    const { succeeded } = await client.if(key, compared, '==', expected)
      .then(client.put(key).value(value))
      .else(client.get(key))
      .commit()
    if (!succeeded) refused(name)
  }
  return {
    create: ({ name }) => write(name, 'Create', 0, first),
    update: ({ name }) => write(name, 'Version', 1, second),
    close: async () => { client.close() }
  }
}
