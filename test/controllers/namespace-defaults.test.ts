import t from 'tap'
import { selfSigned } from '../../serving/certify.js'
import { desiredRootCA } from '../../controllers/root-ca.js'
import { build, type Json, type Client } from '../build.js'
import { until } from '../interop/server.js'

const OURS = selfSigned('ours', ['localhost'], new Date()).certificate
const THEIRS = selfSigned('theirs', ['localhost'], new Date()).certificate
const EXPIRED = selfSigned('expired', ['localhost'], new Date('2001-01-01')).certificate
const BUNDLE = '/api/v1/namespaces/team/configmaps/orch-root-ca.crt'
const ACCOUNT = '/api/v1/namespaces/team/serviceaccounts/default'

async function withTeam (
  t: Parameters<typeof build>[0],
  options: Parameters<typeof build>[1] = { rootCA: { certificates: OURS, shared: true } }
): Promise<Client> {
  const server = await build(t, options)
  await server.post('/api/v1/namespaces', { metadata: { name: 'team' } })
  await until('the default account', async () => (await server.get(ACCOUNT)).code === 200)
  return server
}

const dataOf = async (server: Client): Promise<Json | undefined> => (await server.get(BUNDLE)).json['data']

t.test('each namespace has the CA bundle of the server, which is restored after a deletion or a change', async t => {
  const server = await withTeam(t)
  await until('the bundle', async () => (await dataOf(server))?.['ca.crt'] === OURS)
  t.match((await server.get(BUNDLE)).json.metadata.annotations, { 'orch.io/description': /verify the API server/ })
  await until('that of the system', async () => (await server.get(BUNDLE.replace('team', 'orch-system'))).code === 200)
  const { uid } = (await server.get(BUNDLE)).json.metadata
  await server.delete(BUNDLE)
  await until('a new one', async () => ![undefined, uid].includes((await server.get(BUNDLE)).json.metadata?.uid))
  await server.patch(BUNDLE, { data: { 'ca.crt': 'nothing', more: 'x' } })
  await until('the old content', async () =>
    JSON.stringify(await dataOf(server)) === JSON.stringify({ 'ca.crt': OURS }))
})

t.test('a deleted default account is restored', async t => {
  const server = await withTeam(t, {})
  const { uid } = (await server.get(ACCOUNT)).json.metadata
  await server.delete(ACCOUNT)
  await until('a new one', async () => ![undefined, uid].includes((await server.get(ACCOUNT)).json.metadata?.uid))
  t.equal((await server.get(BUNDLE)).code, 404, 'a host that names no certificates publishes none')
})

t.test('nothing is restored in a terminating namespace', async t => {
  const server = await withTeam(t)
  await until('the bundle', async () => (await server.get(BUNDLE)).code === 200)
  await server.delete('/api/v1/namespaces/team')
  await until('its end', async () => (await server.get('/api/v1/namespaces/team')).code === 404)
  t.same([(await server.get(BUNDLE)).code, (await server.get(ACCOUNT)).code], [404, 404])
})

t.test(
  'servers with certificates of their own share the bundle; what is no certificate or has expired is dropped', t => {
    const there = (bundle: string): Json => ({
      kind: 'ConfigMap',
      apiVersion: 'v1',
      metadata: { name: 'x', annotations: { 'orch.io/description': 'd' } },
      data: { 'ca.crt': bundle }
    })
    const wanted = (bundle: string, shared = false): string | undefined =>
      desiredRootCA({ certificates: OURS, shared }, there(bundle) as never, Date.now())?.data?.['ca.crt']
    t.equal(wanted(THEIRS), THEIRS + OURS)
    t.equal(wanted(OURS + THEIRS), undefined, 'in either order')
    t.equal(wanted(`${EXPIRED}x${THEIRS}`), THEIRS + OURS)
    t.equal(wanted(THEIRS, true), OURS, 'where all have the same there is nothing to share')
    t.end()
  }
)
