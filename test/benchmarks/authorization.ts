/**
 * Cost of RBAC: a GET, compared to AlwaysAllow; and a decision in this process, with the default roles alone and with
 * ten thousand bindings.
 */
import Fastify from '../fastify.js'
import { server as orch } from '../../app.js'
import type { Attributes, Authorizer } from '../../auth/authorizer.js'
import { cpuInTurns } from './compare.js'
import { Ends } from './ends.js'
import { call, gets, pool } from './http1.js'
import { CONFIGS, fill, key } from './objects.js'
import { launch } from './process.js'
import { UNBOUNDED } from './reads.js'
import { report } from './report.js'
import type { Scale } from './scale.js'
import { loadedServer } from '../../plugins/shared/plugin.js'
import { polled } from '../polled.js'

const RBAC = '/apis/rbac.authorization.orch.io/v1'
/** Number of the user's own roles. */
const OWN = 10

interface Asked {
  readonly authorizer: Authorizer
  readonly post: (url: string, body: object) => Promise<void>
  readonly close: () => Promise<void>
}

async function serving (mode: 'AlwaysAllow' | 'RBAC'): Promise<Asked> {
  const app = Fastify()
  let authorizer: Authorizer | undefined
  await app.register(async scope => {
    await orch(scope, {
      storage: { kind: 'memory' },
      authorization: { modes: [mode] },
      authentication: { tokens: 'root,root,1,system:masters\n' }
    })
    authorizer = loadedServer(scope).orchAuthorization.authorizer
  })
  await app.ready()
  const headers = { authorization: 'Bearer root' }
  await polled(async () => (await app.inject({ url: '/readyz', headers })).statusCode === 200)
  if (authorizer === undefined) throw new Error('there is no authorizer')
  return {
    authorizer,
    post: async (url, payload) => {
      const { statusCode, body } = await app.inject({ method: 'POST', url, payload, headers })
      if (statusCode !== 201) throw new Error(`${url}: ${body}`)
    },
    close: async () => { await app.close() }
  }
}

const attributes = (verb: string, resource: string): Attributes => ({
  user: { username: 'ann', uid: '1', groups: ['devs', 'system:authenticated'], extra: {} },
  info: {
    path: '',
    isResourceRequest: true,
    verb,
    group: '',
    version: 'v1',
    resource,
    subresource: '',
    namespace: 'default',
    name: 'x'
  }
})

/** Microseconds per decision. */
function cost ({ authorizer }: Asked, count: number, asked: Attributes): number {
  const before = process.cpuUsage()
  for (let at = 0; at < count; at++) void authorizer.authorize(asked)
  const { user, system } = process.cpuUsage(before)
  return (user + system) / count
}

/** The user is allowed by a role of one namespace, which is evaluated after all cluster-wide ones. */
async function served (scale: Scale): Promise<void> {
  await using ends = new Ends()
  const first = ends.add(await launch(UNBOUNDED))
  await fill(first, 100)
  const role = {
    metadata: { name: 'reader' },
    rules: [{ verbs: ['get', 'list', 'watch'], apiGroups: [''], resources: ['pods', 'services', 'configmaps'] }]
  }
  const binding = {
    metadata: { name: 'readers' },
    roleRef: { apiGroup: 'rbac.authorization.orch.io', kind: 'Role', name: 'reader' },
    subjects: [{ kind: 'Group', name: 'group-b' }]
  }
  for (const [plural, body] of [['roles', role], ['rolebindings', binding]] as const) {
    const { code } = await call(first.port, 'POST', `${RBAC}/namespaces/default/${plural}`, JSON.stringify(body))
    if (code !== 201) throw new Error(`${plural}: ${code}`)
  }
  await first.kill()
  const ruled = ends.add(await launch([...UNBOUNDED, '--authorization-mode=RBAC'], first.folder))
  const open = ends.add(await launch(UNBOUNDED))
  await fill(open, 100)
  const costs = await cpuInTurns(
    [ruled, open], scale.rounds, scale.gets, server => gets(server.port, `${CONFIGS}/${key(7)}`, scale.gets, 64)
  )
  report({
    work: 'GET, 64 connections, HTTP/1.1, RBAC, beside AlwaysAllow',
    unit: 'µs of CPU a request',
    ours: costs.get(ruled) ?? [],
    limit: costs.get(open) ?? [],
    most: 1.25
  })
}

export async function authorization (scale: Scale): Promise<void> {
  await served(scale)
  const [open, ruled] = [await serving('AlwaysAllow'), await serving('RBAC')]
  const count = scale.gets * 10
  const unit = 'µs of CPU a decision'
  const rounds = (work: string, bound: number, asked: Attributes): void => {
    const [ours, limit]: [number[], number[]] = [[], []]
    for (let round = 0; round <= scale.rounds; round++) {
      const [mine, free] = [cost(ruled, count, asked), cost(open, count, asked)]
      if (round === 0) continue
      ours.push(mine)
      limit.push(free)
    }
    report({ work, unit, ours, bound })
    report({ work: `${work}, by AlwaysAllow`, unit, ours: limit })
  }
  rounds('RBAC with the default roles, refused', 3, attributes('get', 'pods'))

  const size = scale.objects * 2
  await pool(Math.ceil(size / 5), 16, at => ruled.post(`${RBAC}/clusterroles`, {
    metadata: { name: `role-${at}` },
    rules: [
      { verbs: ['get', 'list'], apiGroups: [''], resources: ['pods', 'services'], resourceNames: ['a', 'b'] },
      { verbs: ['*'], apiGroups: ['apps'], resources: ['deployments'] }
    ]
  }))
  await pool(size, 16, at => ruled.post(`${RBAC}/namespaces/default/rolebindings`, {
    metadata: { name: `binding-${at}` },
    roleRef: { apiGroup: 'rbac.authorization.orch.io', kind: 'ClusterRole', name: `role-${Math.floor(at / 5)}` },
    subjects: [{ kind: 'User', name: at < OWN ? 'ann' : `user-${at}` }]
  }))
  rounds(
    `RBAC with ${size.toLocaleString('en')} bindings of which the user has ${OWN}, refused`, 6,
    attributes('get', 'pods')
  )
  rounds(`RBAC with ${size.toLocaleString('en')} bindings of which the user has ${OWN}, allowed`, 6, {
    ...attributes('patch', 'deployments'), info: { ...attributes('patch', 'deployments').info, group: 'apps' }
  })
  await open.close()
  await ruled.close()
}
