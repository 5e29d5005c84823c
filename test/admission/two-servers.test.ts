/** A quota that two servers on the same etcd charge concurrently. */
import t from 'tap'
import { build } from '../build.js'
import { startEtcd } from '../etcd-process.js'
import { until } from '../interop/server.js'

t.test('concurrent creates on two servers stay within the quota, and deleted objects release it', async t => {
  const { url } = await startEtcd(t)
  const options = { storage: { kind: 'etcd' as const, servers: [url] } }
  const servers = [await build(t, options), await build(t, options)] as const
  const [one] = servers
  const team = '/api/v1/namespaces/team'
  await one.post('/api/v1/namespaces', { metadata: { name: 'team' } })
  t.equal(
    (await one.post(`${team}/resourcequotas`, {
      metadata: { name: 'q' }, spec: { hard: { 'count/secrets': '5' } }
    })).code,
    201
  )
  const used = async (): Promise<unknown> =>
    (await one.get(`${team}/resourcequotas/q`)).json['status'].used?.['count/secrets']
  await until('the quota to hold', async () => await used() === '0')
  // The other server knows the quota once it enforces it.
  await until('it to hold on the other server', async () =>
    (await servers[1].get(`${team}/resourcequotas/q`)).json['status'].used !== undefined)

  const codes = await Promise.all(Array.from(
    { length: 20 },
    async (_, index) =>
      (await servers[index % 2 === 0 ? 0 : 1].post(`${team}/secrets`, { metadata: { name: `s${index}` } })).code
  ))
  t.equal(codes.filter(code => code === 201).length, 5)
  t.equal(codes.filter(code => code === 403).length, 15)
  t.equal(await used(), '5')
  const first = codes.indexOf(201)
  t.equal((await servers[1].delete(`${team}/secrets/s${first}`)).code, 200)
  await until('its place to be free', async () => await used() === '4')
  t.equal((await servers[0].post(`${team}/secrets`, { metadata: { name: 'again' } })).code, 201)
})
