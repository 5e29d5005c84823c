/** The operations of every resource in every served version: one table, one life of an object of each. */
import t from 'tap'
import type { Representation } from '../../schemas/resource.js'
import { TABLE, Watch, types, listen, PROTOBUF, build, type Json } from '../build.js'
import { nameOf } from '../samples.js'
import { ALL, create, eachServed, isEmptied, sample, stored, title, urlOf } from './collections.js'

t.test('an object of every kind is created, read in every form, changed and deleted, in every version', async t => {
  for await (const { server, one } of eachServed(t)) {
    await t.test(title(one), async t => {
      const { kind, apiVersion, listKind } = one
      const url = urlOf(one)
      await create(server, one)
      const path = `${url}/${nameOf(one.group, one.plural)}`
      const got = await server.get(path)
      t.match(got, {
        code: 200,
        json: { kind, apiVersion, metadata: { name: nameOf(one.group, one.plural), labels: { of: 'sample' } } }
      })
      t.equal((await server.get(path, { accept: 'application/yaml' })).code, 200)
      const list = await server.get(url)
      t.match(list.json, { kind: listKind, apiVersion })
      t.ok(list.json['items'].some(({ metadata }: Json) => metadata['uid'] === got.json['metadata'].uid))
      t.match((await server.get(url, { accept: TABLE })).json, {
        kind: 'Table', columnDefinitions: [{ name: /.+/, description: /.+\.$/ }]
      })
      t.match(
        (await server.get(path, { accept: 'application/json;as=PartialObjectMetadata;g=meta.orch.io;v=v1' })).json,
        { kind: 'PartialObjectMetadata' }
      )

      // The same bytes of protobuf decode to the same object, and change nothing.
      const binary = await server.get(path, { accept: PROTOBUF })
      t.equal(binary.headers['content-type'], PROTOBUF)
      if (one.verbs.includes('update')) {
        const put = await server.call('PUT', path, binary.raw, { 'content-type': PROTOBUF })
        t.match(put, { code: 200 }, JSON.stringify(put.json['details'] ?? ''))
        t.same(put.json, got.json, 'an update that changes nothing changes nothing')
        const strict = await server.put(`${path}?fieldValidation=Strict`, got.json)
        t.equal(strict.code, 200, JSON.stringify(strict.json['message'] ?? ''))
        const unknown = await server.put(`${path}?fieldValidation=Strict`, { ...got.json, nosuchfield: 1 })
        t.match(unknown, { code: 400, json: { message: /unknown field "nosuchfield"/ } })
        t.match(
          await server.put(path, { ...got.json, metadata: { ...got.json['metadata'], resourceVersion: '1' } }),
          { code: 409 }
        )
        if (!one.unconditionalUpdate) {
          t.match(
            await server.put(path, { ...got.json, metadata: { ...got.json['metadata'], resourceVersion: undefined } }),
            { code: 422, json: { details: { causes: [{ field: 'metadata.resourceVersion' }] } } }
          )
        }
      }
      if (one.verbs.includes('patch')) {
        const patched = await server.patch(path, { metadata: { labels: { more: 'yes' } } })
        t.match(patched, { code: 200, json: { metadata: { labels: { of: 'sample', more: 'yes' } } } })
        t.match(await server.patch(`${path}?dryRun=All`, { metadata: { labels: { dry: 'run' } } }), {
          code: 200, json: { metadata: { labels: { dry: 'run' } } }
        })
        t.equal((await server.get(path)).json['metadata'].labels.dry, undefined)
      }
      t.match(
        await server.post(url, { kind: 'Other', apiVersion, metadata: { name: 'x' } }), { code: 400 }, 'another kind'
      )
      t.match(
        await server.post(url, { kind, apiVersion: 'other.example.com/v1', metadata: { name: 'x' } }), { code: 400 },
        'another version'
      )
      t.match(await server.post(url, { ...sample(one), metadata: { name: 'a/b' } }), { code: 422 }, 'a bad name')
      t.match(await server.get(`${url}?labelSelector=of%3Dsample&limit=1`), { code: 200 })
      t.match((await server.get(`${url}?fieldSelector=metadata.name%3Dnone`)).json['items'], [])
      t.match(await server.get(`${url}?fieldSelector=no.such%3Dfield`), { code: 400 })
      const gone = await server.delete(path, { gracePeriodSeconds: 0, propagationPolicy: 'Background' })
      t.equal(gone.code, isEmptied(one) ? 202 : 200)
      if (!isEmptied(one)) t.equal((await server.get(path)).code, 404)
    })
  }
})

t.test('watches of all versions see a change in one', async t => {
  const server = await listen(t, ALL)
  for (const type of new Set(stored.map(({ type }) => type))) {
    const representations = type.representations.filter(one => stored.includes(one))
    if (representations.length === 1) continue
    const watches = await Promise.all(representations.map(one =>
      Watch.open(t, `${server.url}${urlOf(one)}?watch=1&resourceVersion=0`)))
    const first = representations[0]
    if (first === undefined) throw new Error('a type without a representation')
    await create(server, first)
    const name = nameOf(first.group, first.plural)
    for (const [at, watch] of watches.entries()) {
      const one = representations[at]
      const events = await watch.take(1)
      t.strictSame(types(events), [`ADDED ${name}`])
      t.match(events[0]?.object, { kind: one?.kind, apiVersion: one?.apiVersion })
      t.same(
        events[0]?.object, (await server.get(`${urlOf(one as Representation)}/${name}`)).json,
        `as GET has it in ${String(one?.apiVersion)}`
      )
      watch.close()
    }
  }
})

t.test('a collection is deleted by its labels', async t => {
  const server = await build(t, ALL)
  for (const one of stored) {
    if (!one.verbs.includes('deletecollection') || one !== one.type.stored) continue
    await create(server, one)
    const { code, json } = await server.delete(`${urlOf(one)}?labelSelector=of%3Dsample`, {
      propagationPolicy: 'Background'
    })
    t.equal(code, 200, `${title(one)} ${JSON.stringify(json['message'] ?? '')}`)
  }
})

t.test(
  'dependents of a deleted controller or job are orphaned unless the request or the object says otherwise', async t => {
    const server = await build(t, ALL)
    for (const plural of ['replicationcontrollers', 'jobs']) {
      const one = stored.find(found => found.plural === plural)
      if (one === undefined) throw new Error(`${plural} are not served`)
      const path = `${urlOf(one)}/${nameOf(one.group, one.plural)}`
      const finalizers = async (body?: object): Promise<unknown> =>
        (await server.delete(path, body)).json['metadata']?.finalizers
      await create(server, one)
      t.equal(await finalizers({ propagationPolicy: 'Background' }), undefined)
      await create(server, one)
      t.same(await finalizers({ propagationPolicy: 'Foreground' }), ['foregroundDeletion'])
      await server.patch(path, { metadata: { finalizers: null } })
      await create(server, one)
      t.same(await finalizers(), ['orphan'])
      await server.patch(path, { metadata: { finalizers: null } })
      t.equal((await server.get(path)).code, 404)
    }
    for (const [version, finalizers] of [['v1', undefined], ['v1beta1', ['orphan']]] as const) {
      const url = `/apis/batch/${version}/namespaces/default/cronjobs`
      await server.post(url, {
        metadata: { name: version },
        spec: {
          schedule: '* * * * *',
          jobTemplate: {
            spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'a', image: 'b' }] } } }
          }
        }
      })
      t.same(
        (await server.delete(`${url}/${version}`)).json['metadata']?.finalizers, finalizers, `cron jobs of ${version}`
      )
    }
  }
)
