/**
 * Custom resources compared to ConfigMaps of the same size, and the cost of definitions: to install, to keep and to
 * start with.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { FastifyInstance } from 'fastify'
import { serving } from './in-process.js'
import { report } from './report.js'
import type { Scale } from './scale.js'
import { polled } from '../polled.js'

const DEFINITIONS = '/apis/apiextensions.orch.io/v1/customresourcedefinitions'
const WIDGETS = '/apis/example.com/v1/namespaces/default/widgets0'
const CONFIGS = '/api/v1/namespaces/default/configmaps'
const DATA = Object.fromEntries(Array.from({ length: 12 }, (_, at) => [`key${at}`, 'some value '.repeat(6)]))
const PATCH = 'application/merge-patch+json'

/** As large as the schema of a small operator. */
const SPEC = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`field${at}`, [
  { type: 'string', description: 'Something that an operator would like to know about this field.' },
  { type: 'integer', minimum: 0 },
  {
    type: 'object',
    properties: {
      name: { type: 'string' },
      list: {
        type: 'array', items: { type: 'object', properties: { key: { type: 'string' }, on: { type: 'boolean' } } }
      }
    }
  }
][at % 3]]))
const SCHEMA = {
  type: 'object',
  properties: {
    spec: { type: 'object', properties: SPEC }, data: { type: 'object', additionalProperties: { type: 'string' } }
  }
}

const definition = (at: number, more: object = {}): object => ({
  metadata: { name: `widgets${at}.example.com` },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: `widgets${at}`, kind: `Widget${at}` },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: SCHEMA }, ...more }]
  }
})

const typed = (url: string): object =>
  url === WIDGETS ? { apiVersion: 'example.com/v1', kind: 'Widget0' } : { apiVersion: 'v1', kind: 'ConfigMap' }

async function call (
  app: FastifyInstance, method: 'GET' | 'POST' | 'PATCH' | 'DELETE', url: string, payload?: object
): Promise<number> {
  const { statusCode } = await app.inject({
    method,
    url,
    ...(payload === undefined
      ? {}
      : { payload, headers: { 'content-type': method === 'PATCH' ? PATCH : 'application/json' } })
  })
  return statusCode
}

async function cost (count: number, work: (at: number) => Promise<number>): Promise<number> {
  const before = process.cpuUsage()
  for (let at = 0; at < count; at++) if (await work(at) >= 300) throw new Error('a request was refused')
  const { user, system } = process.cpuUsage(before)
  return (user + system) / count
}

async function installed (app: FastifyInstance, at: number): Promise<void> {
  await polled(async () => await call(app, 'GET', `/apis/example.com/v1/widgets${at}`) === 200)
}

/** Heap in use after a collection. */
function heap (): number {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
  return process.memoryUsage().heapUsed
}

export async function custom (scale: Scale): Promise<void> {
  await definitions(scale) // first: the memory of a definition is measured in a heap that holds little else
  const count = Math.ceil(scale.writes / 10)
  const app = await serving({ kind: 'memory' })
  await call(app, 'POST', DEFINITIONS, definition(0))
  await installed(app, 0)
  const work: ReadonlyArray<readonly [
    string, number, (url: string, round: number) => (at: number) => Promise<number>
  ]> = [
    [
      'create', 1.5,
      (url, round) => at => call(app, 'POST', url, { ...typed(url), metadata: { name: `o${round}-${at}` }, data: DATA })
    ],
    ['update', 1.5, (url, round) => at => call(app, 'PATCH', `${url}/o${round}-${at}`, { data: { key1: 'other' } })],
    ['GET', 1.05, (url, round) => at => call(app, 'GET', `${url}/o${round}-${at}`)],
    ['LIST of all', 1.05, url => at => at % 100 === 0 ? call(app, 'GET', url) : Promise.resolve(200)]
  ]
  for (const [name, bound, request] of work) {
    const [ours, limit]: [number[], number[]] = [[], []]
    for (let round = 0; round <= scale.rounds; round++) {
      const sides = [[CONFIGS, limit], [WIDGETS, ours]] as const
      for (const [url, costs] of round % 2 === 0 ? sides : sides.toReversed()) {
        const spent = await cost(count, request(url, round))
        if (round > 0) costs.push(spent) // the first warms up
      }
    }
    report({
      work: `${name} of a custom object, beside a ConfigMap of the same size`,
      unit: 'µs of CPU a request',
      ours,
      limit,
      most: bound
    })
  }
  await app.close()
  await selected(scale)
}

/** Lists that select few of many, by a selectable field and by a label: a comparison an item, and what matches. */
async function selected ({ rounds, objects, lists }: Scale): Promise<void> {
  const app = await serving({ kind: 'memory' }, { emulatedVersion: '1.36' })
  await call(app, 'POST', DEFINITIONS, definition(0, { selectableFields: [{ jsonPath: '.spec.field0' }] }))
  await installed(app, 0)
  for (let at = 0; at < objects; at++) {
    const owner = at % (objects / 10) === 0 ? 'few' : 'many'
    await call(
      app, 'POST', WIDGETS,
      { ...typed(WIDGETS), metadata: { name: `o${at}`, labels: { owner } }, spec: { field0: owner }, data: DATA }
    )
  }
  const [ours, limit]: [number[], number[]] = [[], []]
  for (let round = 0; round <= rounds; round++) {
    const sides = [['labelSelector=owner', limit], ['fieldSelector=spec.field0', ours]] as const
    for (const [selector, costs] of round % 2 === 0 ? sides : sides.toReversed()) {
      const spent = await cost(lists * 5, () => call(app, 'GET', `${WIDGETS}?${selector}=few`))
      if (round > 0) costs.push(spent)
    }
  }
  report({
    work: `LIST of 10 among ${objects} custom objects by a selectable field, beside one by a label`,
    unit: 'µs of CPU a request',
    ours,
    limit,
    most: 1.1
  })
  await app.close()
}

async function definitions (scale: Scale): Promise<void> {
  const count = Math.ceil(scale.objects / 5)
  const folder = mkdtempSync(join(tmpdir(), 'orch-bench-custom-'))
  const storage = { kind: 'embedded', directory: folder } as const
  const first = await serving(storage)
  await call(first, 'POST', DEFINITIONS, definition(0))
  await installed(first, 0)
  const since = performance.now()
  await call(first, 'POST', DEFINITIONS, definition(1))
  await installed(first, 1)
  report({ work: 'a definition, from its create to served', unit: 'ms', ours: [performance.now() - since], bound: 50 })
  const before = heap()
  const each = await cost(count, at => call(first, 'POST', DEFINITIONS, definition(at + 2)))
  await installed(first, count + 1)
  report({
    work: `each of ${count} definitions, its create and its status included`, unit: 'ms of CPU', ours: [each / 1000],
    bound: 3
  })
  await sleep(1000)
  report({ work: 'a definition that is idle', unit: 'KB of heap', ours: [(heap() - before) / count / 1024], bound: 60 })
  await first.close()
  const started = performance.now()
  const second = await serving(storage)
  await installed(second, count + 1)
  report({
    work: `start in process with ${count} definitions`, unit: 'ms', ours: [performance.now() - started], bound: 3000
  })
  await second.close()
  rmSync(folder, { recursive: true, force: true })
}
