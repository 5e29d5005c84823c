/** The types of lists that OpenAPI says where release 1.36 is emulated: those by which apply merges in either release. */
import { readdirSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import t from 'tap'
import { build, type Client, type Json } from '../build.js'

const FACTS = resolve(import.meta.dirname, '../../../test/facts/1.36')

interface Fact { openapiPrefix?: string, messages?: Record<string, { fields?: Array<{ name: string, repeated: boolean, listType?: string, listMapKeys?: string[] }> }> }

t.test('every list says its type, which is that of the facts', async t => {
  const server = await build(t, { emulatedVersion: '1.36', api: { disabled: [] } })
  const { definitions } = (await server.get('/openapi/v2')).json as { definitions: Record<string, Json | undefined> }
  let compared = 0
  for (const file of readdirSync(FACTS)) {
    const { openapiPrefix = '', messages = {} } = JSON.parse(readFileSync(resolve(FACTS, file), 'utf8')) as Fact
    for (const [message, { fields = [] }] of Object.entries(messages)) {
      const { properties = {} } = definitions[`${openapiPrefix}.${message}`] ?? {}
      for (const { name, repeated, listType, listMapKeys } of fields) {
        const property = properties[name] as Json | undefined
        if (!repeated || property === undefined || listType === undefined) continue
        compared++
        t.same([property['x-orch-list-type'], property['x-orch-list-map-keys']], [listType, listMapKeys], `${openapiPrefix}.${message}.${name}`)
      }
    }
  }
  t.ok(compared > 300, `${compared} lists`)
})

t.test('release 1.24 says it where its types do', async t => {
  const { definitions } = (await (await build(t)).get('/openapi/v2')).json as { definitions: Record<string, Json> }
  t.notOk('x-orch-list-type' in definitions['io.orch.api.core.v1.PodSpec']?.['properties'].volumes)
})

t.test('enumerations and empty names have the values of each release', async t => {
  const facts = JSON.parse(readFileSync(resolve(FACTS, 'core.v1.json'), 'utf8')) as {
    messages: Record<string, { fields: Array<{ name: string, enum?: string[], enumClosed?: boolean, default?: unknown }> }>
  }
  const [earlier, later] = await Promise.all([build(t), build(t, { emulatedVersion: '1.36' })])
  const definitionsOf = async (server: Client) => (await server.get('/openapi/v2')).json['definitions'] as Record<string, Json>
  const [before, now] = [await definitionsOf(earlier), await definitionsOf(later)]
  const at = (of: Record<string, Json>, message: string, name: string): Json =>
    of[`io.orch.api.core.v1.${message}`]?.['properties']?.[name] ?? {}
  let compared = 0
  for (const [message, { fields }] of Object.entries(facts.messages)) {
    for (const { name, enum: values, enumClosed } of fields) {
      const { enum: said } = at(now, message, name)
      if (enumClosed !== true || said === undefined) continue
      compared++
      t.same([...said as string[]].sort(), values?.toSorted(), `${message}.${name}`)
    }
  }
  t.ok(compared > 30, `${compared} enumerations`)
  t.notMatch(at(before, 'ResourceQuotaSpec', 'scopes')['enum'], ['VolumeAttributesClass'])
  t.same(
    ['name'].map(name => [
      at(before, 'LocalObjectReference', name)['default'], at(now, 'LocalObjectReference', name)['default']
    ]),
    [[undefined, '']]
  )
  const url = '/api/v1/namespaces/default/pods/a?fieldManager=m'
  const pod = {
    kind: 'Pod', apiVersion: 'v1', metadata: { name: 'a' },
    spec: { containers: [{ name: 'c', image: 'i' }], imagePullSecrets: [{ name: '' }] }
  }
  const apply = (server: Client) => server.patch(url, pod, 'application/apply-patch+yaml')
  t.equal((await apply(earlier)).code, 422)
  t.equal((await apply(later)).code, 201)
  t.equal((await apply(later)).code, 200)
  const [{ fieldsV1 }] = (await later.get('/api/v1/namespaces/default/pods/a')).json['metadata'].managedFields
  t.same(Object.keys(fieldsV1['f:spec']['f:imagePullSecrets']), ['k:{"name":""}'])
})

t.test('since 1.36 an apply that changes owners alone has no time', async t => {
  for (const [emulatedVersion, timeless] of [['1.24', false], ['1.36', true]] as const) {
    const server = await build(t, { emulatedVersion })
    const path = '/api/v1/namespaces/default/configmaps/c'
    const apply = async (manager: string, data: Json): Promise<string | undefined> => {
      const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' }, data }
      const { json } = await server.patch(`${path}?fieldManager=${manager}`, body, 'application/apply-patch+yaml')
      return json['metadata'].managedFields.find((entry: Json) => entry['manager'] === manager).time as string | undefined
    }
    t.match(await apply('one', { a: 'x', b: 'y' }), /Z$/, 'what changes the object has one')
    t.equal(await apply('two', { a: 'x' }) === undefined, timeless, emulatedVersion)
    t.equal(await apply('two', { a: 'x', b: 'y' }) === undefined, timeless, 'also if it owned something')
    t.match(await apply('two', { a: 'x', b: 'y', c: 'z' }), /Z$/)
    t.match(await apply('two', { a: 'x' }), /Z$/, 'what it no longer owns goes')
  }
})
