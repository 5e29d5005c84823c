/** How stock kubectl presents discovery and OpenAPI: the table of resources, and the fields of every kind. */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import t from 'tap'
import { findResource } from '../schemas/find-resource.js'
import { Kubectl, programs } from './kubectl.js'
import { ServerHere } from './server.js'

interface FactResource {
  group: string
  version: string
  resource: string
  kind: string
  namespaced: boolean
  shortNames: string[]
  verbs: string[]
  enabledByDefault: boolean
}
const { groups, resources } = JSON.parse(readFileSync(
  resolve(import.meta.dirname, '../../../test/facts/resources.json'), 'utf8'
)) as {
  groups: Array<{ group: string, preferredVersion: string, versions: string[] }>, resources: FactResource[]
}

/**
 * kubectl lists a resource once, in the version that its group prefers among those that have it, sorted by group and
 * name.
 */
function table (): string[][] {
  const rows = groups.flatMap(({ group, versions }) => {
    const shown = new Map<string, FactResource>()
    for (const version of versions) {
      for (const one of resources) {
        if (one.group === group && one.version === version && one.enabledByDefault && !shown.has(one.resource) &&
          findResource(group, version, one.resource) !== undefined) {
          shown.set(one.resource, one)
        }
      }
    }
    return [...shown.values()]
  })
  const key = ({ group, resource }: FactResource): string => `${group}\0${resource}`
  return rows.sort((one, other) => key(one) < key(other) ? -1 : 1)
    .map(({ resource, shortNames, group, version, namespaced, kind }) => [
      resource, shortNames.join(), group === '' ? version : `${group}/${version}`, String(namespaced), kind
    ].filter(cell => cell !== ''))
}

/** All kinds, if requested: that takes a minute or two. */
const ALL = process.env['ORCH_EXPLAIN_ALL'] === '1'
const SAMPLE = new Set([
  'pods', 'services', 'nodes', 'configmaps', 'namespaces', 'deployments', 'cronjobs', 'horizontalpodautoscalers',
  'ingresses', 'clusterrolebindings', 'flowschemas', 'events'
])

/** A deeply nested field of each kind. */
const DEEP: ReadonlyArray<readonly [string, RegExp]> = [
  ['pods.spec.containers.livenessProbe.httpGet', /port.*<(string|IntOrString)>.*-required-/s],
  ['deployments.spec.strategy.rollingUpdate.maxSurge', /FIELD: *maxSurge <(string|IntOrString)>/],
  ['clusterrolebindings.subjects', /namespace.*<string>/]
]

t.test('one server for kubectl of both releases, which only read', async t => {
  const server = await ServerHere.start(t)
  for (const program of programs()) {
    const kubectl = new Kubectl(t, program, server.tokenConfig())

    await t.test(`kubectl ${program.version} lists the resources of the release with their properties`, async t => {
      const shown = await kubectl.ok('api-resources', '--no-headers', '--sort-by=name')
      const rows = shown.split('\n').map(line => line.trim().split(/ +/))
      const byName = (one: string[], other: string[]): number => one.join() < other.join() ? -1 : 1
      t.same(rows.sort(byName), table().sort(byName))
    })

    await t.test(`kubectl ${program.version} explains kinds, with all their fields`, async t => {
      for (const [resource = '', ...cells] of table().filter(([resource = '']) => ALL || SAMPLE.has(resource))) {
        const [apiVersion = '', , kind = ''] = cells.slice(-3)
        const explained = await kubectl.ok('explain', resource, `--api-version=${apiVersion}`, '--recursive')
        t.match(explained, new RegExp(`^KIND: +${kind}\n`, 'm'), kind)
        for (const member of ['kind', 'apiVersion']) {
          t.match(explained, new RegExp(`^ +${member}\\s+<string>$`, 'm'), `${kind}: ${member}`)
        }
      }
      for (const [path, pattern] of DEEP) t.match(await kubectl.ok('explain', path), pattern, path)
    })
  }
})
