/** What the programs of a cluster of release 1.36 list and watch, each as the user that it is. */
import { readFileSync } from 'node:fs'
import t from 'tap'
import { listen, Watch, type Json, type Listening } from '../build.js'

const read = <T>(file: string): T =>
  JSON.parse(readFileSync(new URL(`../../../test/facts/1.36/${file}`, import.meta.url), 'utf8')) as T

interface Rule {
  readonly verbs: string[]
  readonly apiGroups?: string[]
  readonly resources?: string[]
  readonly resourceNames?: string[]
  readonly featureGate?: string
}
interface Role { readonly name: string, readonly rules: Rule[], readonly featureGates?: string[] }
interface Binding {
  readonly name: string
  readonly roleRef: { readonly kind: string, readonly name: string }
  readonly subjects: ReadonlyArray<{ readonly kind: string, readonly name: string, readonly namespace?: string }>
}
const { clusterRoles, clusterRoleBindings, featureGateDefaults } = read<{
  clusterRoles: Role[]
  clusterRoleBindings: Binding[]
  featureGateDefaults: Record<string, boolean>
}>('rbac-bootstrap.json')
const { resources } = read<{
  resources: Array<{ group: string, version: string, resource: string, verbs: string[], enabledByDefault: boolean }>
}>('resources.json')

/** What the release serves without a flag: the paths of each resource. */
const SERVED = new Map<string, string[]>()
for (const { group, version, resource, verbs, enabledByDefault } of resources) {
  if (!enabledByDefault || !verbs.includes('list')) continue
  const path = `${group === '' ? '/api' : `/apis/${group}`}/${version}/${resource}`
  SERVED.set(`${resource}.${group}`, [...SERVED.get(`${resource}.${group}`) ?? [], path])
}

const isOn = (gates: readonly string[]): boolean => gates.every(gate => featureGateDefaults[gate] !== false)

/** Everybody who is bound to a role, with what the role lets them list and watch. */
const INFORMERS = clusterRoleBindings.flatMap(({ roleRef, subjects }) => {
  const rules =
    clusterRoles.find(({ name, featureGates = [] }) => name === roleRef.name && isOn(featureGates))?.rules ?? []
  const informed = rules.filter(({ verbs, resourceNames, featureGate }) => resourceNames === undefined &&
    (verbs.includes('*') || (verbs.includes('list') && verbs.includes('watch'))) &&
      isOn((featureGate ?? '').split(',')))
  const paths = [...new Set(informed.flatMap(({ apiGroups = [], resources: named = [] }) =>
    apiGroups.flatMap(group => named.flatMap(resource =>
      group === '*' || resource === '*'
        ? [...SERVED].filter(([name]) => (group === '*' || name === `${name.split('.')[0] ?? ''}.${group}`) &&
        (resource === '*' || name.startsWith(`${resource}.`))).flatMap(([, found]) => found)
        : SERVED.get(`${resource}.${group}`) ?? []))))]
  return subjects.filter(({ kind }) => kind !== 'Group')
    .map(({ kind, name, namespace }) => ({
      user: kind === 'User' ? name : `system:serviceaccount:${namespace ?? ''}:${name}`, paths
    }))
}).filter(({ paths }) => paths.length > 0)

const NODE = 'system:node:n1'
/** The selectors of node agents and schedulers. */
const SELECTED: ReadonlyArray<readonly [user: string, path: string]> = [
  [NODE, '/api/v1/pods?fieldSelector=spec.nodeName%3Dn1'],
  [NODE, '/api/v1/nodes?fieldSelector=metadata.name%3Dn1'],
  [NODE, '/api/v1/services?fieldSelector=spec.clusterIP%21%3DNone'],
  [NODE, '/apis/storage.orch.io/v1/csidrivers?'],
  [NODE, '/apis/node.orch.io/v1/runtimeclasses?'],
  [NODE, '/apis/resource.orch.io/v1/resourceslices?fieldSelector=spec.nodeName%3Dn1'],
  ['system:orch-scheduler', '/api/v1/pods?fieldSelector=status.phase%21%3DSucceeded%2Cstatus.phase%21%3DFailed'],
  ['system:orch-proxy', '/apis/discovery.orch.io/v1/endpointslices?labelSelector=%21service.orch.io%2Fheadless'],
  ['system:orch-controller-manager', '/api/v1/configmaps?fieldSelector=metadata.name%3Dorch-root-ca.crt']
]

const tokenOf = (user: string): string => user.replaceAll(':', '-')
const users = new Set([NODE, ...INFORMERS.map(({ user }) => user), ...SELECTED.map(([user]) => user)])
const TOKENS = [...users].map(user =>
  `${tokenOf(user)},${user},1,"${user === NODE ? 'system:nodes' : 'system:authenticated'}"`).join('\n')

let server: Listening
t.before(async () => {
  server = await listen(t, {
    emulatedVersion: '1.36', authentication: { tokens: TOKENS }, authorization: { modes: ['Node', 'RBAC'] }
  })
})

/** As an informer does: a list, then a watch from its version, with bookmarks. */
async function informs (user: string, path: string): Promise<string> {
  const headers = { authorization: `Bearer ${tokenOf(user)}` }
  const list = await server.get(path, headers)
  if (list.code !== 200) return `LIST ${list.code} ${String(list.json['message'])}`
  const { resourceVersion } = list.json['metadata'] as Json
  const watch = await Watch.open(
    t,
    `${server.url}${path}${path.includes('?') ? '&' : '?'}watch=1&allowWatchBookmarks=true&resourceVersion=` +
    `${String(resourceVersion)}`,
    headers
  )
  const { statusCode } = watch.response
  watch.response.destroy()
  return statusCode === 200 ? '' : `WATCH ${String(statusCode)}`
}

t.test('the programs of a cluster are bound to roles that let them watch', async t => {
  const names = INFORMERS.map(({ user }) => user.split(':').pop())
  for (const name of [
    'orch-scheduler', 'orch-controller-manager', 'generic-garbage-collector', 'service-cidrs-controller',
    'resource-claim-controller', 'volumeattributesclass-protection-controller'
  ]) {
    t.ok(names.includes(name), name)
  }
  const all = INFORMERS.flatMap(({ paths }) => paths)
  for (const part of [
    'flowcontrol.apiserver.orch.io/v1/', 'resource.orch.io/v1/', 'v1/servicecidrs', 'v1/ipaddresses',
    'v1/volumeattributesclasses', 'v1/validatingadmissionpolicies', 'v1/mutatingadmissionpolicies'
  ]) {
    t.ok(all.some(path => path.includes(part)), part)
  }
})

for (const { user, paths } of INFORMERS) {
  t.test(`what ${user} may watch is served`, async t => {
    for (const path of paths) t.equal(await informs(user, path), '', path)
  })
}

for (const [user, path] of SELECTED) {
  t.test(`${user} watches ${path}`, async t => {
    t.equal(await informs(user, path), '')
  })
}
