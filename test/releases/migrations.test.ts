/** Migrations of stored objects, where release 1.36 is emulated and they are asked for. */
import t from 'tap'
import { disabledApis } from '../../config/runtime-config.js'
import { build, TABLE, type Json } from '../build.js'

const PATH = '/apis/storagemigration.orch.io/v1beta1/storageversionmigrations'
const causes = (answer: { json: Json }): string[] =>
  ((answer.json['details'] as Json | undefined)?.['causes'] as Json[] | undefined ?? []).map(
    ({ field, message }) => `${String(field)}: ${String(message)}`
  )
const api = { disabled: disabledApis(new Map([['storagemigration.orch.io/v1beta1', 'true']]), undefined) }
const body: Json = { metadata: { name: 'a' }, spec: { resource: { group: 'apps', resource: 'deployments' } } }

t.test('it is served where the gate and the version are on', async t => {
  t.equal((await (await build(t, { emulatedVersion: '1.36', api })).get(PATH)).code, 404)
  t.equal(
    (await (await build(t, {
      emulatedVersion: '1.36', featureGates: { StorageVersionMigrator: true }
    })).get(PATH)).code,
    404
  )
})

t.test('a migration names a resource, and one that has ended stays so', async t => {
  const server = await build(t, { emulatedVersion: '1.36', api, featureGates: { StorageVersionMigrator: true } })
  t.same(causes(await server.post(PATH, { metadata: { name: 'b' }, spec: {} })), [
    'spec.resource.resource: Required value: resource is required'
  ])
  const made = await server.post(PATH, body)
  t.match(made, { code: 201, headers: { warning: undefined } })
  t.match(causes(await server.patch(`${PATH}/a`, { spec: { resource: { resource: 'pods' } } })), [
    /^spec: .*field is immutable/
  ])
  const condition = (type: string, status = 'True'): Json => ({
    type, status, reason: 'Why', message: '', lastTransitionTime: '2026-01-01T00:00:00Z'
  })
  const status = async (value: Json) => await server.patch(`${PATH}/a/status`, { status: value })
  t.match(causes(await status({ resourceVersion: 'x' })), [/^status.resourceVersion: .*failed to parse/])
  t.equal((await status({ resourceVersion: '5', conditions: [condition('Running')] })).code, 200)
  t.match((await server.get(`${PATH}/a`, { accept: TABLE })).json['rows'][0].cells, [
    'a', 'deployments.apps', 'Running'
  ])
  t.match(causes(await status({ resourceVersion: '6' })), [/^status.resourceVersion: .*cannot be updated/])
  t.match(
    causes(await status({ conditions: [condition('Running'), condition('Succeeded'), condition('Failed')] })),
    [/Both/, /Running.*success/, /Running.*failed/]
  )
  t.equal((await status({ conditions: [condition('Running', 'False'), condition('Succeeded')] })).code, 200)
  t.match(causes(await status({ conditions: [condition('Succeeded', 'False')] })), [
    /Success condition cannot be set to false/
  ])
  t.match((await server.get(`${PATH}/a`, { accept: TABLE })).json['rows'][0].cells, [
    'a', 'deployments.apps', 'Succeeded'
  ])
})
