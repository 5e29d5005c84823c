/** Webhook configurations written through one server take effect on another one on the same etcd. */
import t from 'tap'
import { build, listen, Watch } from '../../build.js'
import { startEtcd } from '../../etcd-process.js'
import { caBundle, configure, CONFIGS, deny, hookServer, VALIDATING, webhook } from './hook-server.js'

t.test(
  'a configuration applies to the next request on its own server, and on another as soon as that could read it',
  async t => {
    const { url } = await startEtcd(t)
    const options = { storage: { kind: 'etcd' as const, servers: [url] } }
    const near = await build(t, options)
    const far = await listen(t, options)
    const hook = await hookServer(t, deny())
    const code = async (server: typeof near): Promise<number> =>
      (await server.post(`${CONFIGS}?dryRun=All`, { metadata: { name: 'c' } })).code
    const heard = await Watch.open(t, `${far.url}${VALIDATING}?watch=1`)
    for (let round = 1; round <= 10; round++) {
      await configure(near, VALIDATING, 'a', webhook('a', hook, { clientConfig: { url: hook.url, caBundle } }))
      t.equal(await code(near), 400)
      await heard.until(() => heard.events.length === 2 * round - 1)
      t.equal(await code(far), 400)
      t.equal((await near.delete(`${VALIDATING}/a`)).code, 200)
      t.equal(await code(near), 201)
      await heard.until(() => heard.events.length === 2 * round)
      t.equal(await code(far), 201)
    }
  }
)
