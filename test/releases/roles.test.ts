/** The default roles and bindings of release 1.36, compared with the facts. */
import { readFileSync } from 'node:fs'
import t from 'tap'
import { build, type Json } from '../build.js'

interface Fact {
  name: string
  namespace?: string
  labels?: Json
  annotations?: Json
  aggregationRule?: Json
  roleRef?: Json
  rules: Json[]
  subjects: Json[]
  featureGates?: string[]
}
const facts = JSON.parse(readFileSync(
  new URL('../../../test/facts/1.36/rbac-bootstrap.json', import.meta.url), 'utf8'
)) as
  {
    featureGateDefaults: Record<string, boolean>
    clusterRoles: Fact[]
    clusterRoleBindings: Fact[]
    roles: Fact[]
    roleBindings: Fact[]
  }
const isOn = (gates: readonly string[] = []): boolean => gates.every(gate => facts.featureGateDefaults[gate] !== false)
const plain = ({ featureGate, kubernetesName, kubernetesResourceNames, renameGuess, ...fact }: Json): Json => fact

t.test('roles and bindings are those of the release', async t => {
  const server = await build(t, { emulatedVersion: '1.36', authorization: { modes: ['RBAC', 'AlwaysAllow'] } })
  const listed = async (path: string) => {
    const { items } = (await server.get(`/apis/rbac.authorization.orch.io/v1/${path}`)).json
    return new Map((items as Json[]).map(item => {
      const { namespace = '', name } = item['metadata'] as Json
      return [`${String(namespace)}/${String(name)}`, item]
    }))
  }
  const key = ({ namespace = '', name }: Fact): string => `${namespace}/${name}`
  for (const [path, wanted] of [['clusterroles', facts.clusterRoles], ['roles', facts.roles]] as const) {
    const served = await listed(path)
    const expected = wanted.filter(({ featureGates }) => isOn(featureGates))
    t.same([...served.keys()].toSorted(), expected.map(key).toSorted(), path)
    for (const role of expected) {
      const { metadata, aggregationRule } = served.get(key(role)) ?? {}
      t.same(
        { labels: metadata?.labels, annotations: metadata?.annotations, aggregationRule },
        { labels: role.labels, annotations: role.annotations, aggregationRule: role.aggregationRule },
        `${key(role)}, what marks it`
      )
      // Aggregated roles collect the rules of others.
      if (['admin', 'edit', 'view'].includes(role.name)) continue
      const rules = role.rules.filter(({ featureGate }) => isOn((featureGate as string | undefined)?.split(',')))
      t.same(served.get(key(role))?.['rules'], rules.map(plain), key(role))
    }
  }
  for (const [path, wanted] of [
    ['clusterrolebindings', facts.clusterRoleBindings], ['rolebindings', facts.roleBindings]
  ] as const) {
    const served = await listed(path)
    const expected = wanted.filter(({ featureGates }) => isOn(featureGates))
    t.same([...served.keys()].toSorted(), expected.map(key).toSorted(), path)
    for (const binding of expected) {
      t.same(served.get(key(binding))?.['roleRef'], binding.roleRef, `${key(binding)}, its role`)
      t.same(served.get(key(binding))?.['subjects'] ?? [], binding.subjects.map(plain), key(binding))
    }
  }
})
