/** Roles written through one server and used by another on the same etcd. */
import t from 'tap'
import { build, listen, Watch } from '../../build.js'
import { startEtcd } from '../../etcd-process.js'
import { random } from '../../random.js'

const API = 'rbac.authorization.orch.io'
const ROOT = `/apis/${API}/v1`
const ADMIN = { authorization: 'Bearer root' }
const ANN = { authorization: 'Bearer ann' }
const CHANGES = 60

t.test(
  'a change is effective for the next request on its own server, and on another as soon as that could read it',
  async t => {
    const { seed, int } = random()
    t.comment(`seed ${seed}`)
    const { url } = await startEtcd(t)
    const options = {
      storage: { kind: 'etcd' as const, servers: [url] },
      authentication: { tokens: 'root,root,1,system:masters\nann,ann,2\n' },
      authorization: { modes: ['RBAC' as const] }
    }
    const near = await build(t, options)
    const far = await listen(t, options)
    const role = (verbs: string[]) => ({
      metadata: { name: 'reader' }, rules: [{ apiGroups: [''], resources: ['secrets'], verbs }]
    })
    t.equal((await near.post(`${ROOT}/clusterroles`, role(['none']), ADMIN)).code, 201)
    t.equal(
      (await near.post(
        `${ROOT}/clusterrolebindings`,
        {
          metadata: { name: 'readers' },
          roleRef: { apiGroup: API, kind: 'ClusterRole', name: 'reader' },
          subjects: [{ apiGroup: API, kind: 'User', name: 'ann' }]
        },
        ADMIN
      )).code,
      201
    )
    const heard = await Watch.open(
      t, `${far.url}${ROOT}/clusterroles?watch=1&fieldSelector=metadata.name%3Dreader`, ADMIN
    )
    let version = ''
    const late: number[] = []
    for (let change = 0; change < CHANGES; change++) {
      const may = int(2) === 0
      const { code, json } = await near.put(
        `${ROOT}/clusterroles/reader`, role(may ? ['list', `v${change}`] : [`v${change}`]), ADMIN
      )
      const acknowledged = performance.now()
      t.equal(code, 200)
      version = json['metadata'].resourceVersion
      const expected = may ? 200 : 403
      if ((await near.get('/api/v1/secrets', ANN)).code !== expected) {
        t.fail(`change ${change} is not effective where it was made`)
      }
      await heard.until(() => heard.events.at(-1)?.object['metadata'].resourceVersion === version)
      late.push(performance.now() - acknowledged)
      if ((await far.get('/api/v1/secrets', ANN)).code !== expected) {
        t.fail(`change ${change} is not effective where it was read`)
      }
    }
    t.comment(
      `the other server had read it after ${late.sort((a, b) => a - b)[CHANGES >> 1]?.toFixed(1)} ms (median), ` +
      `${late.at(-1)?.toFixed(1)} ms at most`
    )
  }
)
