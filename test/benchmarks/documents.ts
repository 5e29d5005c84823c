/** Cost of OpenAPI documents when they are first requested, and when they exist; of discovery after a change. */
import { request } from 'node:https'
import { Ends } from './ends.js'
import { call, pool } from './http1.js'
import { cpu, launch, settle, TOKEN } from './process.js'
import { report } from './report.js'
import type { Scale } from './scale.js'

const PROTOBUF = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf'
/** Requests to a server that has just started, and their maximum CPU. */
const WORK = [
  { work: 'first /openapi/v2, JSON', path: '/openapi/v2', accept: 'application/json', bound: 300 },
  { work: 'first /openapi/v2, protobuf', path: '/openapi/v2', accept: PROTOBUF, bound: 300 },
  {
    work: 'first /openapi/v3, with the hashes of all its documents',
    path: '/openapi/v3',
    accept: 'application/json',
    bound: 300
  }
] as const

export async function documents (scale: Scale): Promise<void> {
  await discovery(scale)
  for (const { work, path, accept, bound } of WORK) {
    const first: number[] = []
    const again: number[] = []
    for (let round = 0; round < scale.starts; round++) {
      await using ends = new Ends()
      const server = ends.add(await launch())
      const ask = async (): Promise<number> => {
        await settle(server, scale.pause)
        const before = cpu(server)
        await get(server.port, path, accept)
        return cpu(server) - before
      }
      first.push(await ask())
      again.push(await ask())
    }
    report({ work, unit: 'ms of CPU', ours: first, bound })
    report({ work: work.replace('first', 'the next'), unit: 'ms of CPU', ours: again })
  }
}

const DEFINITIONS = '/apis/apiextensions.orch.io/v1/customresourcedefinitions'
const DISCOVERY = 'application/json;g=apidiscovery.orch.io;v=v2;as=APIGroupDiscoveryList'
/** Definitions of a group. */
const A_GROUP = 10

function definition (
  at: number, shortName: string
): { readonly name: string, readonly body: (version?: string) => string } {
  const [group, plural] = [`g${Math.floor(at / A_GROUP)}.example.com`, `things${at}`]
  const name = `${plural}.${group}`
  return {
    name,
    body: resourceVersion => JSON.stringify({
      apiVersion: 'apiextensions.orch.io/v1', kind: 'CustomResourceDefinition', metadata: { name, resourceVersion },
      spec: {
        group, scope: 'Namespaced', names: { plural, kind: `Thing${at}`, shortNames: [shortName] },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }]
      }
    })
  }
}

/** What the next request for all of discovery costs after one of many definitions has changed. */
async function discovery (scale: Scale): Promise<void> {
  const count = scale.starts > 1 ? 1000 : 20
  await using ends = new Ends()
  const server = ends.add(await launch())
  await pool(count, 8, async at => {
    const { code } = await call(server.port, 'POST', DEFINITIONS, definition(at, `t${at}`).body())
    if (code !== 201) throw new Error(`a definition was answered ${code}`)
  })
  const ask = async (): Promise<number> => {
    await settle(server, scale.pause)
    const before = cpu(server)
    await get(server.port, '/apis', DISCOVERY)
    return cpu(server) - before
  }
  for (let warm = 0; warm < 5; warm++) await ask()
  const [changed, same]: [number[], number[]] = [[], []]
  for (let round = 0; round < scale.rounds; round++) {
    const at = round % count
    const { name, body } = definition(at, `u${at}`)
    const version = /"resourceVersion":"(\d+)"/.exec((await call(
      server.port, 'GET', `${DEFINITIONS}/${name}`
    )).body())?.[1]
    const { code } = await call(server.port, 'PUT', `${DEFINITIONS}/${name}`, body(version))
    if (code !== 200) throw new Error(`a change was answered ${code}`)
    changed.push(await ask())
    same.push(await ask())
  }
  const work = `discovery of ${count.toLocaleString('en')} definitions`
  report({
    work: `${work}, after a change of one, beyond the next request`,
    unit: 'ms of CPU',
    ours: changed.map((cost, at) => cost - (same[at] ?? 0)),
    bound: 5
  })
  report({ work: `${work}, the next request`, unit: 'ms of CPU', ours: same })
}

/** On a new connection, compressed, as command-line clients request it. */
function get (port: number, path: string, accept: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${TOKEN}`, accept, 'accept-encoding': 'gzip' }
    request({ port, host: '127.0.0.1', path, headers, rejectUnauthorized: false, agent: false }, response => {
      if (response.statusCode !== 200) reject(new Error(`${path} was answered with ${response.statusCode}`))
      response.resume().once('end', resolve)
    }).once('error', reject).end()
  })
}
