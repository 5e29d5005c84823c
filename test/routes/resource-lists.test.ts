/** Discovery of each version, compared to the facts about the release. */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import t from 'tap'
import { representations } from '../../schemas/resources.js'
import { findResource } from '../schemas/find-resource.js'
import { build, type Json, type Client } from '../build.js'

interface FactSubresource { name: string, kind: string, kindGroup?: string, kindVersion?: string, verbs: string[] }
interface FactResource {
  group: string, version: string, resource: string, kind: string, namespaced: boolean, shortNames: string[],
  categories: string[], verbs: string[]
  subresources: FactSubresource[], persisted: boolean, storageVersionHash?: string
}
const FACTS = JSON.parse(readFileSync(resolve(import.meta.dirname, '../../../test/facts/resources.json'), 'utf8')) as {
  groups: Array<{ group: string, versions: string[], preferredVersion: string }>, resources: FactResource[]
}

const rootOf = (group: string, version: string): string =>
  group === '' ? `/api/${version}` : `/apis/${group}/${version}`

/** The entries of a resource, as in an APIResourceList. */
function entriesOf (
  {
    resource, kind, namespaced, shortNames, categories, verbs, subresources, persisted, storageVersionHash
  }: FactResource
): object[] {
  return [
    {
      name: resource,
      singularName: '',
      namespaced,
      kind,
      verbs,
      ...(shortNames.length > 0 ? { shortNames } : {}),
      ...(categories.length > 0 ? { categories } : {}),
      ...(persisted ? { storageVersionHash } : {})
    },
    ...subresources.map(({ name, kind, kindGroup: group, kindVersion: version, verbs }) =>
      ({
        name: `${resource}/${name}`,
        singularName: '',
        namespaced,
        ...(group === undefined ? {} : { group }),
        ...(version === undefined ? {} : { version }),
        kind,
        verbs: [...verbs].sort()
      }))
  ]
}

/** Every version is served, alpha too. */
const everything = (): Promise<Client> => build(t, { api: { disabled: [] } })

t.test('each version lists the resources of the recorded facts', async t => {
  const server = await everything()
  for (const { group, versions } of FACTS.groups) {
    for (const version of versions) {
      const facts = FACTS.resources.filter(fact =>
        fact.group === group && fact.version === version && findResource(group, version, fact.resource) !== undefined)
      const { code, json } = await server.get(rootOf(group, version))
      if (!representations.some(one => one.group === group && one.version === version)) {
        t.equal(code, 404, `${group}/${version} has nothing in it`)
        continue
      }
      const told = json['resources'] as Json[]
      const names = new Set(told.map(({ name }) => name as string))
      const expected = facts.flatMap(entriesOf) as Json[]
      const nameOf = (one: Json, other: Json): number => one['name'] < other['name'] ? -1 : 1
      t.strictSame(told, expected.filter(({ name }) => names.has(name as string)).sort(nameOf), `${group}/${version}`)
      for (const { name, verbs } of expected) {
        if (!names.has(name as string)) await unanswered(server, group, version, name as string, verbs as string[])
      }
    }
  }
})

const METHODS: Record<string, string> = { create: 'POST', get: 'GET', update: 'PUT', patch: 'PATCH', delete: 'DELETE' }

/** A subresource that discovery does not list is not served, for any verb. */
async function unanswered (
  server: Client, group: string, version: string, name: string, verbs: readonly string[]
): Promise<void> {
  const [resource = '', subresource = ''] = name.split('/')
  const scope = findResource(group, version, resource)?.namespaced === true ? '/namespaces/default' : ''
  for (const verb of verbs) {
    const answer = await server.call(
      METHODS[verb] ?? 'GET', `${rootOf(group, version)}${scope}/${resource}/none/${subresource}`,
      verb === 'get' ? undefined : {}
    )
    t.ok([404, 405].includes(answer.code), `${verb} ${name}: ${answer.code}`)
    t.notMatch(answer.json['message'], /"none"/, 'the object was not looked up')
  }
}

t.test('groups come in the order of the facts, each with the version it prefers first', async t => {
  const server = await everything()
  const served = FACTS.groups.filter(({ group }) => group !== '' && representations.some(one => one.group === group))
  t.strictSame((await server.get('/apis')).json['groups'].map(
    ({ name, versions, preferredVersion }: Json) => [
      name, versions.map(({ version }: Json) => version), preferredVersion.version
    ]
  ),
  served.map(({ group, versions, preferredVersion }) => [group, versions, preferredVersion]))
})
