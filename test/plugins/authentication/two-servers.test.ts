import t from 'tap'
import { startEtcd } from '../../etcd-process.js'
import { build, type Client } from '../../build.js'
import { lateWatch } from '../../late-watch.js'
import { keys } from './tokens.js'
import { polled } from '../../polled.js'

const ACCOUNTS = '/api/v1/namespaces/default/serviceaccounts'
const LATE_MS = 500

t.test(
  'a token is good on another server at once, however late that hears of the account, and ends there with it',
  async t => {
    const { url } = await startEtcd(t)
    const { pem } = keys()
    const server = async (servers: string[]): Promise<Client> => await build(t, {
      storage: { kind: 'etcd', servers, compactionInterval: 0 },
      authentication: { serviceAccounts: { signingKey: pem } }
    })
    const near = await server([url])
    const far = await server([await lateWatch(t, url, LATE_MS)])
    const as = async (token: string) => (await far.get(ACCOUNTS, { authorization: `Bearer ${token}` })).code
    const issue = async (): Promise<string> => (await near.post(`${ACCOUNTS}/robot/token`, {})).json['status'].token
    await near.post(ACCOUNTS, { metadata: { name: 'robot' } })
    const first = await issue()
    t.equal(await as(first), 200)
    await near.delete(`${ACCOUNTS}/robot`)
    await near.post(ACCOUNTS, { metadata: { name: 'robot' } })
    t.equal(await as(await issue()), 200, 'although this server may still cache the older account of that name')
    await polled(async () => await as(first) === 401)
    t.equal(await as(await issue()), 200)
  }
)
