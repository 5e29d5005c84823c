/** Limits of a server hold for all its processes together: quotas, addresses of services, and limits of requests. */
import t from 'tap'
import { Agent } from 'node:https'
import { ask, CONFIGS, eventually, kept, several } from './server.js'

const NAMESPACE = '/api/v1/namespaces/default'

t.test('resources of the whole server are counted once', { timeout: 300_000 }, async t => {
  const server = await several(t, 3, [
    '--service-cluster-ip-range=10.9.0.0/28', '--advertise-address=10.8.0.1', '--max-requests-inflight=30',
    '--max-mutating-requests-inflight=30', '--enable-priority-and-fairness=false'
  ])
  const { port } = server
  const agents = Array.from({ length: 12 }, () => kept(t))
  const post = async (path: string, body: unknown, at: number): Promise<number> =>
    (await ask(port, 'POST', path, JSON.stringify(body), agents[at % agents.length] ?? new Agent()))?.code ?? 0

  await t.test('a quota admits exactly what it has', async t => {
    t.equal(
      await post(`${NAMESPACE}/resourcequotas`, { metadata: { name: 'few' }, spec: { hard: { secrets: '7' } } }, 0), 201
    )
    // A quota takes effect once a process knows it and existing objects have been counted.
    for (const agent of agents) {
      await eventually('the quota is counted', async () => (await ask(
        port, 'GET', `${NAMESPACE}/resourcequotas/few`, undefined, agent
      ))?.text.includes('"used":{"secrets":"0"}') === true)
    }
    const codes = await Promise.all(Array.from(
      { length: 60 }, (_, at) => post(`${NAMESPACE}/secrets`, { metadata: { name: `s-${at}` } }, at)
    ))
    t.equal(codes.filter(code => code === 201).length, 7)
    t.same([...new Set(codes)].sort(), [201, 403])
  })

  await t.test('no address is given twice, and all are given', async t => {
    const made = await Promise.all(Array.from({ length: 30 }, async (_, at) => {
      const answer = await ask(
        port, 'POST', `${NAMESPACE}/services`,
        JSON.stringify({ metadata: { name: `service-${at}` }, spec: { ports: [{ port: 80 }] } }),
        agents[at % agents.length]
      )
      return answer?.code === 201
        ? (JSON.parse(answer.text) as { spec: { clusterIP: string } }).spec.clusterIP
        : undefined
    }))
    const addresses = made.filter(address => address !== undefined)
    t.equal(new Set(addresses).size, addresses.length)
    t.equal(addresses.length, 13, 'of 14 hosts the server itself has one')
  })

  await t.test('the controllers that write run once', async t => {
    const { text = '' } = await ask(port, 'GET', '/api/v1/namespaces/default/endpoints/orch') ?? {}
    t.equal((JSON.parse(text) as { subsets: Array<{ addresses: unknown[] }> }).subsets[0]?.addresses.length, 1)
    const { items } = JSON.parse((await ask(port, 'GET', CONFIGS))?.text ?? '') as {
      items: Array<{ metadata: { name: string } }>
    }
    t.same(items.map(({ metadata: { name } }) => name), ['orch-root-ca.crt'])
  })
})
