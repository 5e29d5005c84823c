/**
 * Cost of creates over HTTPS: with the default admission plugins, compared to none; and with admission policies,
 * compared to a server without.
 */
import { CATALOGUE } from '../../admission/catalogue.js'
import { Ends } from './ends.js'
import { call, pool } from './http1.js'
import { CONFIGS, object } from './objects.js'
import { pod, PODS } from './pod-objects.js'
import { cpu, launch, type Child } from './process.js'
import { UNBOUNDED } from './reads.js'
import { report } from './report.js'
import type { Scale } from './scale.js'

const WRITERS = 16
const DEFAULTS = CATALOGUE.filter(plugin => plugin.default).map(({ name }) => name)

/** What is created: its name in reports, its collection, and an object. */
type Work = readonly [what: string, path: string, body: (name: string) => string]
const MAP: Work = ['a ConfigMap of 2 KiB', CONFIGS, object]
const POD: Work = ['a pod of 8 KB', PODS, pod]
let made = 0

/** Creates on each server in turn. @returns µs of CPU of a create, by server and round */
async function creates (servers: readonly Child[], [, path, body]: Work, scale: Scale): Promise<number[][]> {
  const costs = servers.map((): number[] => [])
  const count = Math.ceil(scale.writes / 5)
  for (let round = 0; round <= scale.rounds; round++) {
    for (const at of round % 2 === 0 ? servers.keys() : [...servers.keys()].reverse()) {
      const server = servers[at] as Child // of its keys
      const before = cpu(server)
      await pool(count, WRITERS, async () => { await create(server, path, body(`made-${made++}`)) })
      if (round > 0) costs[at]?.push((cpu(server) - before) * 1000 / count)
    }
  }
  return costs
}

async function create ({ port }: Child, path: string, object: string): Promise<void> {
  const { code, body } = await call(port, 'POST', path, object)
  if (code !== 201) throw new Error(`a create was answered ${code}: ${body()}`)
}

export async function admission (scale: Scale): Promise<void> {
  await using ends = new Ends()
  const admitting = ends.add(await launch([...UNBOUNDED]))
  const bare = ends.add(await launch([...UNBOUNDED, `--disable-admission-plugins=${DEFAULTS.join(',')}`]))
  for (const [work, most] of [[MAP, 1.10], [POD, 1.35]] as const) {
    const [ours = [], limit = []] = await creates([admitting, bare], work, scale)
    report({
      work: `create of ${work[0]} with the default admission plugins, beside none`,
      unit: 'µs of CPU a request',
      ours,
      limit,
      most
    })
  }
  await policies(scale)
}

const POLICIES = '/apis/admissionregistration.orch.io/v1/validatingadmissionpolicies'
const TEN = 10

async function policies (scale: Scale): Promise<void> {
  await using ends = new Ends()
  const release = [...UNBOUNDED, '--emulated-version=1.36']
  const bare = ends.add(await launch([
    ...release, '--disable-admission-plugins=MutatingAdmissionPolicy,ValidatingAdmissionPolicy'
  ]))
  const none = ends.add(await launch(release))
  const ten = ends.add(await launch(release))
  for (let at = 0; at < TEN; at++) {
    const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps', 'pods'] }
    const validations = [
      {
        expression: "object.metadata.name.startsWith('made-') && " +
          `(!has(object.metadata.labels) || size(object.metadata.labels) != ${50 + at})`
      }
    ]
    await create(ten, POLICIES, JSON.stringify({
      metadata: { name: `p-${at}` }, spec: { matchConstraints: { resourceRules: [rule] }, validations }
    }))
    await create(
      ten, POLICIES.replace('policies', 'policybindings'),
      JSON.stringify({ metadata: { name: `b-${at}` }, spec: { policyName: `p-${at}`, validationActions: ['Deny'] } })
    )
  }
  for (const work of [MAP, POD]) {
    const [limit = [], without = [], ours = []] = await creates([bare, none, ten], work, scale)
    report({
      work: `create of ${work[0]} without policies, beside no plugins for them`,
      unit: 'µs of CPU a request',
      ours: without,
      limit,
      most: 1.05
    })
    report({
      work: `create of ${work[0]} that ten policies allow, beside none`,
      unit: 'µs of CPU a request',
      ours,
      limit: without,
      most: 1.15
    })
  }
}
