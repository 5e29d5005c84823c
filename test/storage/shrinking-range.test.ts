/** A range of addresses that differs when the server starts again. */
import t from 'tap'
import { startEtcd } from '../etcd-process.js'
import { ServerHere, until } from '../interop/server.js'

const SERVICES = '/api/v1/namespaces/default/services'
const service = (name: string, clusterIP: string) => ({
  metadata: { name }, spec: { clusterIP, ports: [{ port: 80 }] }
})

t.test(
  'a start with a smaller range reports services outside it; they keep their addresses, and none are allocated there',
  async t => {
    const etcd = await startEtcd(t)
    const started = (range: string): Promise<ServerHere> => ServerHere.start(
      t, [`--etcd-servers=${etcd.url}`, `--service-cluster-ip-range=${range}`]
    )
    const before = await started('10.0.0.0/24')
    t.equal((await before.ask(SERVICES, 'POST', service('near', '10.0.0.20'))).code, 201)
    t.equal((await before.ask(SERVICES, 'POST', service('far', '10.0.0.200'))).code, 201)
    await before.stop()

    const after = await started('10.0.0.0/27')
    await until('the start to say so', () =>
      /outside --service-cluster-ip-range[^\n]*default\/far \(10\.0\.0\.200\)/.test(after.log))
    t.notMatch(after.log, /default\/near/)
    t.match(JSON.parse((await after.ask(`${SERVICES}/far`)).body), { spec: { clusterIP: '10.0.0.200' } })
    t.equal((await after.ask(SERVICES, 'POST', service('other', '10.0.0.201'))).code, 422)
    t.equal((await after.ask(`${SERVICES}/far`, 'DELETE')).code, 200)
    t.equal((await after.ask(SERVICES, 'POST', service('again', '10.0.0.200'))).code, 422)
  }
)
