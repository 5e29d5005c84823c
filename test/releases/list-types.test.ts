/** The types of lists that OpenAPI says where release 1.36 is emulated: those by which apply merges in either release. */
import { readdirSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import t from 'tap'
import { build, type Json } from '../build.js'

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
