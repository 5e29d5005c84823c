/**
 * Creates by 64 writers beside what the store's own package does with the same values and durability: the
 * operation itself (decode, default, validate, encode, store) in one process, and the same over HTTPS.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { decode, encodeProtobuf, parseJson } from '../../schemas/index.js'
import { configMaps } from '../../schemas/resources.js'
import { AdmissionChain } from '../../storage/admission-chain.js'
import { openBackend } from '../../storage/open.js'
import type { BackendOptions } from '../../storage/open.js'
import { create } from '../../storage/operations/create.js'
import { ResourceStore } from '../../storage/resource-store.js'
import { startEtcd } from '../etcd-process.js'
import { call, pool } from './http1.js'
import { cpu, launch } from './process.js'
import { object } from './objects.js'
import { report } from './report.js'

const WRITERS = 64
const WRITES = 10_000
const ROUNDS = 3
const name = (round: number, at: number): string => `object-${round}-${String(at).padStart(6, '0')}`

/** The bytes an object of the benchmark takes in the store. */
const stored = (text: string): Buffer => Buffer.from(encodeProtobuf(configMaps.message, decode(configMaps.message, parseJson(Buffer.from(text)).value).object))

/** Milliseconds of wall time for so many writes, by the median of rounds. */
async function rounds (work: (round: number, at: number) => Promise<void>): Promise<number[]> {
  const times: number[] = []
  for (let round = 0; round <= ROUNDS; round++) {
    const since = performance.now()
    await pool(WRITES, WRITERS, at => work(round, at))
    if (round > 0) times.push((performance.now() - since) * 1000 / WRITES)
  }
  return times
}

async function operation (options: BackendOptions): Promise<number[]> {
  const backend = await openBackend(options)
  const store = new ResourceStore({
    definition: configMaps, strategy: {}, backend, prefix: '/registry', mediaType: 'application/vnd.orch.protobuf', admission: new AdmissionChain(), windowSize: 100, log: console.error
  })
  await store.open()
  const { signal } = new AbortController()
  try {
    return await rounds(async (round, at) => {
      const { object: decoded } = decode(configMaps.message, parseJson(Buffer.from(object(name(round, at)))).value)
      await create(store, decoded, { namespace: 'default', name: '' }, { user: undefined, dryRun: false, warn: () => {}, signal })
    })
  } finally {
    store.close()
    await backend.close()
  }
}

async function lmdbAlone (): Promise<number[]> {
  const { open } = await import('lmdb')
  const folder = mkdtempSync(join(tmpdir(), 'orch-bench-'))
  const database = open<Buffer, string>({ path: folder, encoding: 'binary' })
  try {
    return await rounds(async (round, at) => {
      const key = name(round, at)
      await database.ifNoExists(key, () => { void database.put(key, stored(object(key))) })
      await database.flushed
    })
  } finally {
    await database.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function etcdAlone (server: string): Promise<number[]> {
  const { Etcd3 } = await import('etcd3')
  const client = new Etcd3({ hosts: server })
  try {
    return await rounds(async (round, at) => {
      const key = name(round, at)
      await client.put(`/alone/${key}`).value(stored(object(key)))
    })
  } finally {
    client.close()
  }
}

/** Wall and server CPU per create over HTTPS. */
async function overHttps (flags: readonly string[]): Promise<{ wall: number[], server: number[] }> {
  const ours = await launch([...flags, '--max-mutating-requests-inflight=0'])
  const server: number[] = []
  try {
    let before = 0
    const wall = await rounds(async (round, at) => {
      if (at === 0) before = cpu(ours)
      const { code } = await call(ours.port, 'POST', '/api/v1/namespaces/default/configmaps', object(name(round, at)))
      if (code !== 201) throw new Error(`create answered ${code}`)
      if (at === WRITES - 1 && round > 0) server.push((cpu(ours) - before) * 1000 / WRITES)
    })
    return { wall, server }
  } finally {
    await ours.stop()
  }
}

export async function writes (): Promise<void> {
  const unit = 'µs a write, wall'
  const lmdb = await lmdbAlone()
  const folder = mkdtempSync(join(tmpdir(), 'orch-bench-'))
  report({ work: 'create, 64 writers, embedded: the operation', unit, ours: await operation({ kind: 'embedded', directory: folder }), limit: lmdb, most: 3 })
  rmSync(folder, { recursive: true, force: true })
  const embedded = await overHttps([])
  report({ work: 'create, 64 writers, embedded: over HTTPS', unit, ours: embedded.wall, limit: lmdb })
  report({ work: 'create, 64 writers, embedded: over HTTPS', unit: 'µs of server CPU', ours: embedded.server })

  const ends: Array<() => unknown> = []
  const etcd = await startEtcd({ teardown: end => { ends.push(end) } })
  try {
    const alone = await etcdAlone(etcd.url)
    report({ work: 'create, 64 writers, etcd: the operation', unit, ours: await operation({ kind: 'etcd', servers: [etcd.url] }), limit: alone, most: 1.5 })
    const served = await overHttps([`--etcd-servers=${etcd.url}`, '--etcd-prefix=/https'])
    report({ work: 'create, 64 writers, etcd: over HTTPS', unit, ours: served.wall, limit: alone })
    report({ work: 'create, 64 writers, etcd: over HTTPS', unit: 'µs of server CPU', ours: served.server })
  } finally {
    for (const end of ends) await end()
  }
}
