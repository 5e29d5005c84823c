/** How apply merges lists and structures in each release, and what OpenAPI says of it. */
import { readdirSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import t from 'tap'
import { openBackend } from '../../storage/open.js'
import { build, type Client, type Json } from '../build.js'

const FACTS = resolve(import.meta.dirname, '../../../test/facts/1.36')

interface FactField {
  name: string, repeated: boolean, listType?: string, listMapKeys?: string[], mapType?: string, structType?: string
}
interface Fact { openapiPrefix?: string, messages?: Record<string, { structType?: string, fields?: FactField[] }> }

t.test('every list and structure says its type, which is that of the facts', async t => {
  const server = await build(t, { emulatedVersion: '1.36', api: { disabled: [] } })
  const { definitions } = (await server.get('/openapi/v2')).json as { definitions: Record<string, Json | undefined> }
  let [compared, structs] = [0, 0]
  for (const file of readdirSync(FACTS)) {
    const { openapiPrefix = '', messages = {} } = JSON.parse(readFileSync(resolve(FACTS, file), 'utf8')) as Fact
    for (const [message, { fields = [], structType }] of Object.entries(messages)) {
      const definition = definitions[`${openapiPrefix}.${message}`]
      const { properties = {} } = definition ?? {}
      if (definition !== undefined) t.equal(definition['x-orch-map-type'], structType, `${openapiPrefix}.${message}`)
      for (const { name, repeated, listType, listMapKeys, mapType, structType } of fields) {
        const property = properties[name] as Json | undefined
        if (property !== undefined && !repeated) {
          structs++
          t.equal(property['x-orch-map-type'], mapType ?? structType, `${openapiPrefix}.${message}.${name}`)
        }
        if (!repeated || property === undefined || listType === undefined) continue
        compared++
        t.same(
          [property['x-orch-list-type'], property['x-orch-list-map-keys']], [listType, listMapKeys],
          `${openapiPrefix}.${message}.${name}`
        )
      }
    }
  }
  t.ok(compared > 300, `${compared} lists`)
  t.ok(structs > 1000, `${structs} other fields`)
})

t.test('release 1.24 says it where its types do', async t => {
  const { definitions } = (await (await build(t)).get('/openapi/v2')).json as { definitions: Record<string, Json> }
  t.notOk('x-orch-list-type' in definitions['io.orch.api.core.v1.PodSpec']?.['properties'].volumes)
})

t.test('enumerations and empty names have the values of each release', async t => {
  const facts = JSON.parse(readFileSync(resolve(FACTS, 'core.v1.json'), 'utf8')) as {
    messages: Record<string, {
      fields: Array<{ name: string, enum?: string[], enumClosed?: boolean, default?: unknown }>
    }>
  }
  const [earlier, later] = await Promise.all([build(t), build(t, { emulatedVersion: '1.36' })])
  const definitionsOf = async (server: Client) =>
    (await server.get('/openapi/v2')).json['definitions'] as Record<string, Json>
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
      return json['metadata'].managedFields.find((entry: Json) =>
        entry['manager'] === manager).time as string | undefined
    }
    t.match(await apply('one', { a: 'x', b: 'y' }), /Z$/, 'what changes the object has one')
    t.equal(await apply('two', { a: 'x' }) === undefined, timeless, emulatedVersion)
    t.equal(await apply('two', { a: 'x', b: 'y' }) === undefined, timeless, 'also if it owned something')
    t.match(await apply('two', { a: 'x', b: 'y', c: 'z' }), /Z$/)
    t.match(await apply('two', { a: 'x' }), /Z$/, 'what it no longer owns goes')
  }
})

const INGRESSES = '/apis/networking.orch.io/v1/namespaces/default/ingresses'
const VOLUMES = '/api/v1/persistentvolumes'
const CLAIMS = '/api/v1/namespaces/default/persistentvolumeclaims'
const ingress = (port: Json): Json => ({
  apiVersion: 'networking.orch.io/v1', kind: 'Ingress', metadata: { name: 'a' },
  spec: { defaultBackend: { service: { name: 's', port } } }
})
const volume = (claimRef: Json): Json => ({
  apiVersion: 'v1', kind: 'PersistentVolume', metadata: { name: 'a' },
  spec: { accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' }, hostPath: { path: '/a' }, claimRef }
})
const applyBy = (server: Client, manager: string, [url, body]: readonly [string, Json], force = false) =>
  server.patch(`${url}/a?fieldManager=${manager}&force=${String(force)}`, body, 'application/apply-patch+yaml')
const owned = ({ json }: { json: Json }, manager: string): Json =>
  json['metadata'].managedFields.find((entry: Json) => entry['manager'] === manager)?.fieldsV1['f:spec'] as Json

t.test(
  'the claim of a volume and the source of a claim merge by member since 1.36, the port of an ingress as a whole',
  async t => {
    for (const [emulatedVersion, isLater] of [['1.24', false], ['1.36', true]] as const) {
      const server = await build(t, { emulatedVersion })
      await applyBy(server, 'one', [VOLUMES, volume({ namespace: 'default', name: 'c' })])
      const uid = { namespace: 'default', name: 'c', uid: 'u' }
      t.equal((await applyBy(server, 'two', [VOLUMES, volume(uid)])).code, isLater ? 200 : 409, emulatedVersion)
      const again = await applyBy(server, 'one', [VOLUMES, volume({ namespace: 'default', name: 'c' })])
      t.same(again.json['spec'].claimRef.uid, isLater ? 'u' : undefined, 'who applies the name leaves the uid')
      t.same(owned(again, 'one')['f:claimRef'], isLater ? { 'f:name': {}, 'f:namespace': {} } : {})
      const claim = {
        apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'a' },
        spec: {
          accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } },
          dataSourceRef: { apiGroup: 'a.b', kind: 'C', name: 'd' }
        }
      }
      t.same(
        owned(await applyBy(server, 'one', [CLAIMS, claim]), 'one')['f:dataSourceRef'],
        isLater ? { 'f:apiGroup': {}, 'f:kind': {}, 'f:name': {} } : {}
      )
      await applyBy(server, 'one', [INGRESSES, ingress({ number: 80 })])
      const renamed = await applyBy(server, 'two', [INGRESSES, ingress({ name: 'http' })], true)
      t.equal(renamed.code, isLater ? 200 : 422, 'a port has a name or a number')
      if (isLater) t.same(renamed.json['spec'].defaultBackend.service.port, { name: 'http' })
    }
  }
)

t.test('owners are those of the release that reads them, whichever has written them', async t => {
  const storage = await openBackend({ kind: 'memory' })
  t.teardown(() => storage.close())
  const earlier = await build(t, { storage })
  const later = await build(t, { storage, emulatedVersion: '1.36' })
  await applyBy(earlier, 'one', [INGRESSES, ingress({ number: 80 })])
  t.equal(
    (await applyBy(later, 'two', [INGRESSES, ingress({ name: 'http' })])).code, 409, 'the whole port has an owner'
  )
  const forced = await applyBy(later, 'two', [INGRESSES, ingress({ name: 'http' })], true)
  t.same(owned(forced, 'two')['f:defaultBackend']['f:service']['f:port'], {})
  t.same(owned(forced, 'one')['f:defaultBackend']['f:service'], { 'f:name': {} })
  await applyBy(later, 'one', [VOLUMES, volume({ name: 'c', namespace: 'default' })])
  t.equal((await applyBy(earlier, 'two', [VOLUMES, volume({ name: 'd', namespace: 'default' })])).code, 409)
  const taken = await applyBy(earlier, 'two', [VOLUMES, volume({ name: 'd', namespace: 'default' })], true)
  t.same(owned(taken, 'two')['f:claimRef'], {})
  t.notOk('f:claimRef' in owned(taken, 'one'))
})
