/** What definitions have where release 1.36 is emulated. */
import t from 'tap'
import { until } from '../interop/server.js'
import { build, type Json } from '../build.js'

const PATH = '/apis/apiextensions.orch.io/v1/customresourcedefinitions'
const NAMES = { plural: 'widgets', kind: 'Widget' }
const definition: Json = {
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: NAMES,
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }]
  }
}
const MERGE = 'application/merge-patch+json'

t.test('what controllers say to have observed is kept, if the release knows it', async t => {
  for (const [emulatedVersion, featureGates, kept] of [
    ['1.24', {}, false], ['1.36', {}, true], ['1.36', { CRDObservedGenerationTracking: false }, false]
  ] as const) {
    const server = await build(t, { emulatedVersion, featureGates })
    t.equal((await server.post(PATH, definition)).code, 201)
    const url = `${PATH}/widgets.example.com`
    const observed = { type: 'Observed', status: 'True', observedGeneration: 3 }
    t.equal((await server.patch(`${url}/status`, { status: { observedGeneration: 2 } }, MERGE)).code, 200)
    await until('its conditions', async () => (await server.get(url)).json['status'].conditions?.length > 0)
    t.equal(
      (await server.patch(
        `${url}/status`, [{ op: 'add', path: '/status/conditions/-', value: observed }], 'application/json-patch+json'
      )).code,
      200
    )
    const { status } = (await server.get(url)).json
    t.equal(status.observedGeneration, kept ? 2 : undefined)
    t.equal(status.conditions.find(({ type }: Json) => type === 'Observed').observedGeneration, kept ? 3 : undefined)
  }
})
