/** Policies written through one server, or one process of it, take effect on the others. */
import t from 'tap'
import { build, listen, Watch, type Json } from '../build.js'
import { startEtcd } from '../etcd-process.js'
import { ask, CONFIGS, kept, several } from '../serving/processes/server.js'

const GROUP = '/apis/admissionregistration.orch.io/v1'
const VALIDATING = `${GROUP}/validatingadmissionpolic`
const MUTATING = `${GROUP}/mutatingadmissionpolic`
const matchConstraints = {
  resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }]
}
const refusing: Json = {
  metadata: { name: 'refusing' },
  spec: { matchConstraints, validations: [{ expression: "object.metadata.name != 'bad'" }] }
}
const changing: Json = {
  metadata: { name: 'changing' }, spec: {
    matchConstraints, reinvocationPolicy: 'Never',
    mutations: [
      { patchType: 'ApplyConfiguration', applyConfiguration: { expression: 'Object{data: {"changed": "yes"}}' } }
    ]
  }
}
const bound: ReadonlyArray<readonly [path: string, policy: Json, binding: Json]> = [
  [
    VALIDATING, refusing,
    { metadata: { name: 'refusing' }, spec: { policyName: 'refusing', validationActions: ['Deny'] } }
  ],
  [MUTATING, changing, { metadata: { name: 'changing' }, spec: { policyName: 'changing' } }]
]

t.test(
  'a policy holds for the next request on its own server, and on another as soon as that could read its binding',
  async t => {
    const { url } = await startEtcd(t)
    const options = { storage: { kind: 'etcd' as const, servers: [url] }, emulatedVersion: '1.36' as const }
    const near = await build(t, options)
    const far = await listen(t, options)
    const outcome = async (server: typeof near): Promise<unknown> => {
      const good = await server.post(`${CONFIGS}?dryRun=All`, { metadata: { name: 'good' } })
      const bad = await server.post(`${CONFIGS}?dryRun=All`, { metadata: { name: 'bad' } })
      return [good.json['data']?.changed, bad.code]
    }
    const heard = await Promise.all(bound.map(async ([path]) =>
      await Watch.open(t, `${far.url}${path}ybindings?watch=1`)))
    for (const [path, policy] of bound) t.equal((await near.post(`${path}ies`, policy)).code, 201)
    for (let round = 1; round <= 10; round++) {
      for (const [path, , binding] of bound) t.equal((await near.post(`${path}ybindings`, binding)).code, 201)
      t.same(await outcome(near), ['yes', 422])
      for (const watch of heard) await watch.until(() => watch.events.length === 2 * round - 1)
      t.same(await outcome(far), ['yes', 422])
      for (const [path, { metadata }] of bound) {
        t.equal((await near.delete(`${path}ybindings/${String(metadata.name)}`)).code, 200)
      }
      t.same(await outcome(near), [undefined, 201])
      for (const watch of heard) await watch.until(() => watch.events.length === 2 * round)
      t.same(await outcome(far), [undefined, 201])
    }
  }
)

t.test('a policy holds in each process of a server as soon as that could read its binding', {
  timeout:
    120_000
}, async t => {
  const { port } = await several(t, 3, ['--emulated-version=1.36'])
  const agents = Array.from({ length: 6 }, () => kept(t))
  const code = async (method: string, path: string, body?: Json, at = 0): Promise<number | undefined> =>
    (await ask(port, method, path, body === undefined ? undefined : JSON.stringify(body), agents[at]))?.code
  const [[path, policy, binding]] = bound as [typeof bound[number], ...unknown[]] // there are two
  t.equal(await code('POST', `${path}ies`, policy), 201)
  for (let round = 0; round < 5; round++) {
    t.equal(await code('POST', `${path}ybindings`, binding, round), 201)
    for (const at of agents.keys()) {
      t.equal(await code('GET', `${path}ybindings/refusing`, undefined, at), 200)
      t.equal(await code('POST', `${CONFIGS}?dryRun=All`, { metadata: { name: 'bad' } }, at), 422)
    }
    t.equal(await code('DELETE', `${path}ybindings/refusing`, undefined, round), 200)
    for (const at of agents.keys()) {
      t.equal(await code('GET', `${path}ybindings/refusing`, undefined, at), 404)
      t.equal(await code('POST', `${CONFIGS}?dryRun=All`, { metadata: { name: 'bad' } }, at), 201)
    }
  }
})
