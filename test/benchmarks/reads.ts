/** GET of one object, consistent and with a token, compared to Node's own servers sending the same bytes. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startEtcd } from '../etcd-process.js'
import { cpuInTurns } from './compare.js'
import { call, gets, hangUp } from './http1.js'
import { getsHttp2 } from './http2.js'
import { CONFIGS, fill, key } from './objects.js'
import { serve, launch, type Child } from './process.js'
import { report } from './report.js'
import type { Scale } from './scale.js'
import { Ends } from './ends.js'

export const UNBOUNDED = [
  '--enable-priority-and-fairness=false', '--max-mutating-requests-inflight=0', '--max-requests-inflight=0'
]
export const PATH = `${CONFIGS}/${key(7)}`
const CPU = 'µs of CPU a request'
/** What kube-apiserver 1.36 took, without its etcd. */
const PEER = { get: 436, cached: 294, http2: 430 }

/** A bare server on the same Node that sends the same object, and the same bytes for lists. */
export const bareFor = (ours: Child, version: 1 | 2, listBytes = 0): Promise<Child> =>
  bareServing(ours, version, PATH, listBytes)

/** @param path of the object in our server */
export const bareServing = async (ours: Child, version: 1 | 2, path: string, listBytes = 0): Promise<Child> =>
  await serve(ours.node, `./bare-http${version}.js`, ...await bareArguments(ours, path, listBytes))

/** What a bare server sends, and its certificate. */
export async function bareArguments (ours: Child, path: string, listBytes = 0): Promise<string[]> {
  const files = { one: join(ours.folder, 'one.json'), list: join(ours.folder, 'list.json') }
  writeFileSync(files.one, (await call(ours.port, 'GET', path)).body())
  writeFileSync(files.list, Buffer.alloc(listBytes, 'x'))
  return [files.one, files.list, join(ours.folder, 'apiserver.crt'), join(ours.folder, 'apiserver.key')]
}

/** Number of reads that etcd has served. */
async function readsAsked (url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  return Number(/^grpc_server_started_total\{grpc_method="Range".*\} (\d+)/m.exec(text)?.[1])
}

export async function reads (scale: Scale): Promise<void> {
  await using ends = new Ends()
  const { url } = await startEtcd(ends)
  const embedded = ends.add(await launch())
  const etcd = ends.add(await launch([`--etcd-servers=${url}`]))
  for (const server of [embedded, etcd]) await fill(server, 100)
  const bare = ends.add(await bareFor(embedded, 1))

  let asked = 0
  let answered = 0
  const costs = await cpuInTurns([embedded, etcd, bare], scale.rounds, scale.gets, async server => {
    const before = server === etcd ? await readsAsked(url) : 0
    await gets(server.port, server === bare ? '/one' : PATH, scale.gets, 64)
    if (server !== etcd) return
    asked += await readsAsked(url) - before
    answered += scale.gets
  })
  const limit = costs.get(bare) ?? []
  report({
    work: 'GET, 64 connections, HTTP/1.1, embedded', unit: CPU, ours: costs.get(embedded) ?? [], limit, most: 1.5
  })
  report({
    work: 'GET, 64 connections, HTTP/1.1, etcd', unit: CPU, ours: costs.get(etcd) ?? [], limit, most: 1.75,
    peer: PEER.get
  })
  const cached = await cpuInTurns(
    [etcd, bare], scale.rounds, scale.gets,
    server => gets(server.port, server === bare ? '/one' : `${PATH}?resourceVersion=0`, scale.gets, 64)
  )
  report({
    work: 'GET resourceVersion=0, 64 connections, HTTP/1.1, etcd',
    unit: CPU,
    ours: cached.get(etcd) ?? [],
    limit: cached.get(bare) ?? [],
    most: 1.5,
    peer: PEER.cached
  })
  report({ work: 'reads asked of etcd, of 64 connections', unit: 'per GET', ours: [asked / answered], bound: 0.5 })
}

export async function readsHttp2 (scale: Scale): Promise<void> {
  await using ends = new Ends()
  const ours = ends.add(await launch())
  await fill(ours, 100)
  const bare = ends.add(await bareFor(ours, 2))
  const costs = await cpuInTurns([ours, bare], scale.rounds, scale.gets, server =>
    getsHttp2(server.port, server === bare ? '/one' : PATH, scale.gets, 16, 16))
  report({
    work: 'GET, 16 connections × 16 streams, HTTP/2, embedded',
    unit: CPU,
    ours: costs.get(ours) ?? [],
    limit: costs.get(bare) ?? [],
    most: 1.5,
    peer: PEER.http2
  })
  hangUp(ours.port)
}
