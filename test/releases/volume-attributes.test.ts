/** Classes of attributes of volumes, where release 1.36 is emulated. */
import t from 'tap'
import { disabledApis } from '../../config/runtime-config.js'
import { build, type Json } from '../build.js'

const PATH = '/apis/storage.orch.io/v1/volumeattributesclasses'
const BETA = '/apis/storage.orch.io/v1beta1/volumeattributesclasses'
const MERGE = 'application/merge-patch+json'
const causes = (answer: { json: Json }): string[] =>
  ((answer.json['details'] as Json | undefined)?.['causes'] as Json[] | undefined ?? []).map(
    ({ message, field }) => `${String(field)}: ${String(message)}`
  )
const fast: Json = { metadata: { name: 'fast' }, driverName: 'disk.example.com', parameters: { iops: '100' } }

t.test('a class names a driver and parameters, which stay', async t => {
  const later = await build(t, { emulatedVersion: '1.36' })
  t.equal((await later.post(PATH, fast)).code, 201)
  t.same(causes(await later.post(PATH, { metadata: { name: 'none' }, driverName: 'Not a name' })), [
    'driverName: Invalid value: "not a name": name part must consist of alphanumeric characters, \'-\', \'_\' or ' +
    '\'.\', and must start and end with an alphanumeric character (e.g. \'MyName\',  or \'my.name\',  or ' +
    '\'123-abc\', regex used for validation is \'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]\')',
    'parameters: Required value: must contain at least one key/value pair'
  ])
  t.same(causes(await later.patch(`${PATH}/fast`, { driverName: 'b', parameters: { iops: '2' } }, MERGE)),
    [
      'driverName: Forbidden: updates to driverName are forbidden.',
      'parameters: Forbidden: updates to parameters are forbidden.'
    ])
  t.equal((await later.patch(`${PATH}/fast`, { metadata: { labels: { a: 'b' } } }, MERGE)).code, 200)
  const many = Object.fromEntries(Array.from({ length: 513 }, (_, index) => [`p${index}`, '']))
  t.match(
    causes(await later.post(PATH, { ...fast, metadata: { name: 'many' }, parameters: many })), [/^parameters: Too long/]
  )
  t.match((await later.delete(`${PATH}/fast`)).json, { kind: 'VolumeAttributesClass' })
})

t.test('classes are unknown to the release of the interface, and v1beta1 is served where it is asked for', async t => {
  t.equal((await (await build(t)).get(PATH)).code, 404)
  const later = await build(t, { emulatedVersion: '1.36' })
  t.equal((await later.get(BETA)).code, 404)
  const asked = await build(t, {
    emulatedVersion: '1.36', api: { disabled: disabledApis(new Map([['storage.orch.io/v1beta1', 'true']]), undefined) }
  })
  const made = await asked.post(BETA, fast)
  t.equal(made.code, 201)
  t.match(made.headers['warning'], [
    '299 - "storage.orch.io/v1beta1 VolumeAttributesClass is deprecated in v1.34+, unavailable in v1.37+; use ' +
    'storage.orch.io/v1 VolumeAttributesClass"'
  ])
  t.match((await asked.get(`${PATH}/fast`)).json, { apiVersion: 'storage.orch.io/v1', parameters: { iops: '100' } })
})
