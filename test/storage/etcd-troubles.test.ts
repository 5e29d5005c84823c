/** What an operator and clients of a server see of an etcd that is full, and of one without a quorum. */
import t from 'tap'
import { spawnSync } from 'node:child_process'
import { compactStore } from '../../storage/transfer/open.js'
import { startEtcd, startEtcdCluster } from '../etcd-process.js'
import { ServerHere, until } from '../interop/server.js'
import { etcdctlProgram } from '../tools.js'

const CONFIGS = '/api/v1/namespaces/default/configmaps'
const config = (name: string, text = ''): object => ({ metadata: { name }, data: { text } })
const outOfSpace = async (server: ServerHere): Promise<string | undefined> =>
  /^apiserver_storage_out_of_space\{store="etcd"\} (\d)/m.exec((await server.ask('/metrics')).body)?.[1]

t.test(
  'a full etcd is named with what to do, stays in the balancer, takes deletes, and is used again when it has space',
  async t => {
    const etcd = await startEtcd(t, undefined, ['--quota-backend-bytes', String(6 * 1024 * 1024)])
    const server = await ServerHere.start(t, [`--etcd-servers=${etcd.url}`])
    t.equal((await server.ask('/readyz/etcd-space')).code, 200)
    t.equal(await outOfSpace(server), '0')
    const text = 'x'.repeat(500_000)
    let answer = await server.ask(CONFIGS, 'POST', config('a-0', text))
    for (let at = 1; answer.code === 201; at++) answer = await server.ask(CONFIGS, 'POST', config(`a-${at}`, text))
    t.equal(answer.code, 503)
    t.match(JSON.parse(answer.body), {
      reason: 'ServiceUnavailable',
      message:
        /no space left: new objects and changes are refused; nothing was changed\..*compact and defragment it .*alarm disarm/
    })
    t.match(server.log, /etcd has no space left and refuses values \(alarm NOSPACE\): compact and defragment/)
    t.equal((await server.ask('/readyz/etcd-space')).code, 500)
    t.equal((await server.ask('/readyz')).code, 200, 'all servers would leave the balancer together')
    t.equal(await outOfSpace(server), '1')
    t.equal((await server.ask(`${CONFIGS}/a-0`)).code, 200)
    for (const name of ['a-0', 'a-1', 'a-2']) t.equal((await server.ask(`${CONFIGS}/${name}`, 'DELETE')).code, 200)
    await compactStore({ kind: 'etcd', servers: [etcd.url], prefix: '/registry' }, () => {}, () => {})
    const disarmed = spawnSync(
      etcdctlProgram(), ['--endpoints', etcd.url, 'alarm', 'disarm'], { env: { ...process.env, ETCDCTL_API: '3' } }
    )
    t.equal(disarmed.status, 0, disarmed.stderr.toString())
    await until('the server to see it', async () => (await server.ask('/readyz/etcd-space')).code === 200)
    t.equal(await outOfSpace(server), '0')
    t.equal((await server.ask(CONFIGS, 'POST', config('b'))).code, 201)
  }
)

t.test('a lost quorum is a line of the log, and so is its return', async t => {
  const [first, ...others] = await startEtcdCluster(t, 3)
  if (first === undefined) throw new Error('there are three')
  const server = await ServerHere.start(t, [`--etcd-servers=${[first, ...others].map(({ url }) => url).join(',')}`])
  t.equal((await server.ask(CONFIGS, 'POST', config('a'))).code, 201)
  for (const member of others) await member.kill()
  const lost =
    'etcd has lost its quorum: 1 of 3 servers answers, without a leader; ' +
    'most of its members must run and reach each other'
  await until('the line', async () => (await server.ask(`${CONFIGS}/a`)).code === 503 && server.log.includes(lost))
  t.equal((await server.ask(`${CONFIGS}/a`)).code, 503)
  const before = server.log
  t.equal(before.split('\n').filter(line => line.includes(` WARN  ${lost}`)).length, 1)
  const [, after = ''] = before.split(` WARN  ${lost}`)
  for (const reason of after.match(/reason="[^"]*"/g) ?? []) {
    t.match(reason, /lost its quorum|no answer within 2000 ms/, 'later lines have that reason')
  }
  for (const member of others) await member.start()
  await until('its return', () => server.log.includes('etcd has its quorum again'))
  t.equal((await server.ask(CONFIGS, 'POST', config('b'))).code, 201)
})
