/** Several servers on one etcd allocate from one range of addresses and ports. */
import t from 'tap'
import { startEtcd } from '../etcd-process.js'
import type { Json } from '../build.js'
import { SERVICES, serviceServer } from '../registry/services/server.js'

t.test(
  'two servers give no address and no port twice, fill both ranges to the last one and take back what the other gave',
  async t => {
    const etcd = await startEtcd(t)
    const storage = { kind: 'etcd' as const, servers: [etcd.url] }
    const ranges = { clusterIPRanges: ['10.0.0.0/26'], nodePorts: { from: 30000, to: 30060 } }
    const servers = [await serviceServer(t, ranges, { storage }), await serviceServer(t, ranges, { storage })] as const
    const answers = await Promise.all(Array.from(
      { length: 61 }, (_, index) => servers[index % 2 === 0 ? 0 : 1].make(`s${index}`, { type: 'NodePort' })
    ))
    t.same(new Set(answers.map(({ code }) => code)), new Set([201]))
    const made = answers.map(({ json }): Json => json)
    t.equal(new Set(made.map(({ spec }) => spec.clusterIP)).size, 61)
    t.equal(new Set(made.map(({ spec }) => spec.ports[0].nodePort)).size, 61)
    t.equal((await servers[1].make('more', { type: 'NodePort' })).code, 500, 'all are taken')

    const same = await Promise.all(servers.map((server, index) =>
      server.make(`first${index}`, { clusterIP: '10.0.0.1' })))
    t.same(same.map(({ code }) => code).sort(), [201, 422], 'one of two concurrent requests for an address gets it')

    for (let index = 0; index < 10; index++) t.equal((await servers[1].delete(`${SERVICES}/s${index}`)).code, 200)
    const again = await Promise.all(Array.from(
      { length: 10 }, (_, index) => servers[0].make(`t${index}`, { type: 'NodePort' })
    ))
    t.same(new Set(again.map(({ code }) => code)), new Set([201]))
    t.equal((await servers[0].taken('serviceips')).length, 62)
  }
)
