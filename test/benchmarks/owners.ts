/**
 * Cost of field ownership: updates of a Deployment of 2 KiB with and without managed fields, and applies of the same,
 * over HTTPS.
 */
import { Ends } from './ends.js'
import { call, pool } from './http1.js'
import { cpu, launch } from './process.js'
import { UNBOUNDED } from './reads.js'
import { report } from './report.js'
import type { Scale } from './scale.js'

const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments'
const WRITERS = 8
const NAMES = ['owned', 'free', 'applied'] as const

const env = Array.from({ length: 12 }, (_, at) => ({ name: `VARIABLE_${at}`, value: `its value ${at}` }))

/** About 2 KiB as stored, without managed fields. */
function deployment (name: string, change: number): object {
  const containers = [
    {
      name: 'main',
      image: `main:${change}`,
      ports: [{ containerPort: 80 }],
      env,
      livenessProbe: { httpGet: { path: '/', port: 80 } }
    },
    { name: 'side', image: 'side:1', env: env.slice(0, 3), resources: { limits: { cpu: '1', memory: '1Gi' } } }
  ]
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, labels: { app: name }, annotations: { note: 'x'.repeat(300) } },
    spec: {
      replicas: 2,
      selector: { matchLabels: { app: name } },
      template: { metadata: { labels: { app: name } }, spec: { containers } }
    }
  }
}

export async function owners (scale: Scale): Promise<void> {
  await using ends = new Ends()
  const server = ends.add(await launch([...UNBOUNDED]))
  const send = async (method: string, path: string, body: object, expected: number): Promise<string> => {
    const answer = await call(server.port, method, `${DEPLOYMENTS}${path}`, JSON.stringify(body))
    if (answer.code !== expected) throw new Error(`${method} was answered ${answer.code}: ${answer.body()}`)
    return answer.body()
  }
  const each = async (work: (name: string) => Promise<unknown>): Promise<void> => {
    for (let writer = 0; writer < WRITERS; writer++) await work(String(writer))
  }
  await each(writer => send('POST', '', deployment(`owned-${writer}`, 0), 201))
  await each(writer => send('POST', '', deployment(`free-${writer}`, 0), 201))
  await each(writer => send(
    'PUT',
    `/free-${writer}`,
    {
      ...deployment(`free-${writer}`, 0),
      metadata: { name: `free-${writer}`, labels: { app: `free-${writer}` }, managedFields: [] }
    },
    200
  ))
  await each(writer => send('PATCH', `/applied-${writer}?fieldManager=bench`, deployment(`applied-${writer}`, 0), 201))

  let change = 1
  const costs: Record<typeof NAMES[number], number[]> = { owned: [], free: [], applied: [] }
  const count = Math.ceil(scale.writes / 5)
  for (let round = 0; round <= scale.rounds; round++) {
    for (const name of NAMES) {
      const before = cpu(server)
      await pool(count, WRITERS, async at => {
        const of = `${name}-${at % WRITERS}`
        await (name === 'applied'
          ? send('PATCH', `/${of}?fieldManager=bench`, deployment(of, change++), 200)
          : send('PUT', `/${of}`, deployment(of, change++), 200))
      })
      if (round > 0) costs[name].push((cpu(server) - before) * 1000 / count)
    }
  }
  const unit = 'µs of CPU a request'
  report({
    work: 'update of a Deployment with owners, beside one without',
    unit,
    ours: costs.owned,
    limit: costs.free,
    most: 1.15
  })
  report({ work: 'apply of a Deployment, beside its update', unit, ours: costs.applied, limit: costs.owned, most: 1.3 })
  const [owned, free] = [
    await send('PUT', '/owned-0', deployment('owned-0', 0), 200),
    await send('PUT', '/free-0', deployment('free-0', 0), 200)
  ]
  report({
    work: 'bytes of a Deployment with one owner, beside none', unit: 'bytes', ours: [owned.length],
    limit: [free.length], most: 2
  })
}
