/**
 * No request that writes nothing leaves a trace: after a dry run, a refusal or a conflict of any verb, in any version,
 * GET answers the same bytes, and an update without changes writes nothing. What caches share is frozen here, so a
 * write to it is an internal error.
 */
import t, { type Test } from 'tap'
import type { ResourceVerb, Subresource } from '../../schemas/subresource.js'
import type { Representation } from '../../schemas/resource.js'
import { build, PROTOBUF, TABLE, type Answer, type Client, type Json } from '../build.js'
import { create, eachServed, stored, title, urlOf } from '../conformance/collections.js'
import { random } from '../random.js'
import { nameOf } from '../samples.js'
import { value } from './objects.js'
import { polled } from '../polled.js'

const dice = random()
/** Random changes of each object: one of served kinds, which are many. */
const ROUNDS = { served: 1, custom: 2 }
const PATCHES = [
  'application/merge-patch+json', 'application/strategic-merge-patch+json', 'application/apply-patch+yaml'
]

const EVERY_VERB: readonly ResourceVerb[] = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update']
/** Kinds whose objects the server itself writes after each change. */
const FOLLOWED = [
  'APIService', 'CustomResourceDefinition', 'Namespace', 'ResourceQuota', 'ClusterRole', 'FlowSchema',
  'PriorityLevelConfiguration', 'Service', 'StorageVersion'
]

/** As clients send it. */
const plain = (random: unknown): Json =>
  JSON.parse(JSON.stringify(random, (_, part: unknown) => typeof part === 'bigint' ? Number(part) : part)) as Json
const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

/** The object with parts of another one: members are replaced, or merged at random. */
function mixed (object: Json, other: Json): Json {
  const made = { ...object }
  for (const [name, theirs] of Object.entries(other)) {
    const own = object[name] as unknown
    if (isObject(own) && isObject(theirs) && dice.int(4) > 0) made[name] = mixed(own, theirs)
    else if (Array.isArray(own) && Array.isArray(theirs) && dice.int(2) > 0) {
      made[name] = own.map((item: unknown, at) =>
        isObject(item) && isObject(theirs[at]) ? mixed(item, theirs[at]) : item)
    } else if (dice.int(3) === 0) made[name] = theirs
  }
  return made
}

/** The object with one part doubled, dropped or changed, so that it is often still valid. */
function edited (object: Json): Json {
  const made = structuredClone(object)
  let at: Json = made
  for (;;) {
    const names = Object.keys(at).filter(name => at !== made || !['kind', 'apiVersion', 'metadata'].includes(name))
    const name = names[dice.int(names.length)]
    if (name === undefined) return made
    const found = at[name] as unknown
    if (typeof found === 'object' && found !== null && Object.keys(found).length > 0 &&
      dice.int(4) > 0) at = found as Json
    else {
      if (dice.int(3) === 0) Reflect.deleteProperty(at, name)
      else if (Array.isArray(at)) at.push(structuredClone(found))
      else if (typeof found === 'number') at[name] = found + 1
      else if (typeof found === 'string') at[name] = `${found}x`
      else if (typeof found === 'boolean') at[name] = !found
      return made
    }
  }
}

interface Subject {
  readonly server: Client
  readonly one: Pick<Representation, 'kind' | 'apiVersion' | 'subresources' | 'verbs'>
  readonly url: string
  readonly name: string
  readonly others: readonly string[]
  readonly random: () => Json
}

/** Requests that write nothing, with what each is. */
async function * harmless (
  { server, one, url, name }: Subject, object: Json, changed: Json
): AsyncGenerator<readonly [string, Answer]> {
  const { metadata } = object
  const path = `${url}/${name}`
  const metadataChanged = {
    ...changed, metadata: { ...metadata, labels: { ...metadata['labels'], other: 'yes' }, annotations: { a: 'b' } }
  }
  yield ['dry update', await server.put(`${path}?dryRun=All`, changed)]
  yield ['dry update of the metadata too', await server.put(`${path}?dryRun=All`, metadataChanged)]
  yield [
    'conflicting update',
    await server.put(path, { ...metadataChanged, metadata: { ...metadataChanged.metadata, resourceVersion: '1' } })
  ]
  yield [
    'update of another',
    await server.put(path, { ...metadataChanged, metadata: { ...metadataChanged.metadata, uid: 'another' } })
  ]
  yield [
    'refused update',
    await server.put(path, { ...metadataChanged, metadata: { ...metadataChanged.metadata, labels: { '!': '!' } } })
  ]
  const { resourceVersion, managedFields, ...free } = metadataChanged.metadata as Json
  for (const type of PATCHES) {
    const query = type.includes('apply') ? '&fieldManager=other&force=true' : ''
    yield [`dry ${type}`, await server.patch(`${path}?dryRun=All${query}`, { ...changed, metadata: free }, type)]
    yield [
      `refused ${type}`,
      await server.patch(
        `${path}?fieldManager=other${query.slice(-11)}`, { ...changed, metadata: { ...free, labels: { '!': '!' } } },
        type
      )
    ]
  }
  yield [
    'conflicting apply',
    await server.patch(
      `${path}?fieldManager=another`, { ...changed, metadata: { name: metadata['name'], labels: { of: 'another' } } },
      'application/apply-patch+yaml'
    )
  ]
  yield [
    'dry JSON patch',
    await server.patch(
      `${path}?dryRun=All`,
      [{ op: 'add', path: '/metadata/labels/json', value: 'yes' }, { op: 'replace', path: '', value: changed }],
      'application/json-patch+json'
    )
  ]
  yield [
    'refused JSON patch',
    await server.patch(
      path, [{ op: 'add', path: '/metadata/labels/json', value: 'yes' }, { op: 'test', path: '/kind', value: '' }],
      'application/json-patch+json'
    )
  ]
  for (const subresource of one.subresources) {
    if (subresource.connects !== true) {
      yield * below(server, `${path}/${subresource.name}`, subresource, metadataChanged)
    }
  }
  const gentle = { gracePeriodSeconds: 5, propagationPolicy: 'Foreground' }
  yield ['dry delete', await server.delete(`${path}?dryRun=All`, gentle)]
  yield [
    'dry delete at once',
    await server.delete(`${path}?dryRun=All`, { gracePeriodSeconds: 0, propagationPolicy: 'Orphan' })
  ]
  yield ['delete of another', await server.delete(path, { ...gentle, preconditions: { uid: 'another' } })]
  yield ['delete of another version', await server.delete(path, { ...gentle, preconditions: { resourceVersion: '1' } })]
  if (one.verbs.includes('deletecollection')) {
    yield ['dry delete of all', await server.delete(`${url}?dryRun=All`, gentle)]
  }
  yield ['dry create', await server.post(`${url}?dryRun=All`, { ...changed, metadata: { name: metadata['name'] } })]
  yield [
    'dry create of another',
    await server.post(`${url}?dryRun=All`, { ...changed, metadata: { generateName: 'other-' } })
  ]
  for (const accept of [
    TABLE, `${TABLE};includeObject=Object`, PROTOBUF, 'application/json;as=PartialObjectMetadata;g=meta.orch.io;v=v1'
  ]) {
    yield [`get as ${accept}`, await server.get(path, { accept })]
    yield [`list as ${accept}`, await server.get(url, { accept })]
  }
}

async function * below (
  server: Client, path: string, { name, verbs }: Subresource, changed: Json
): AsyncGenerator<readonly [string, Answer]> {
  const view = verbs.includes('get') ? (await server.get(path)).json : changed
  const sent = view['kind'] === changed['kind'] ? changed : edited(view)
  if (verbs.includes('update')) {
    yield [`dry update of ${name}`, await server.put(`${path}?dryRun=All`, sent)]
    yield [
      `conflicting update of ${name}`,
      await server.put(path, { ...sent, metadata: { ...sent['metadata'], resourceVersion: '1' } })
    ]
  }
  if (verbs.includes('patch')) {
    yield [`dry patch of ${name}`, await server.patch(`${path}?dryRun=All`, sent)]
    const { managedFields, resourceVersion, ...metadata } = sent['metadata'] as Json
    yield [
      `dry apply of ${name}`,
      await server.patch(
        `${path}?dryRun=All&fieldManager=other&force=true`, { ...sent, metadata }, 'application/apply-patch+yaml'
      )
    ]
  }
  if (verbs.includes('create')) yield [`dry create of ${name}`, await server.post(`${path}?dryRun=All`, sent)]
}

async function check (t: Test, subject: Subject, rounds: number): Promise<void> {
  const { server, one, url, name, others } = subject
  const path = `${url}/${name}`
  const faults: string[] = []
  let answered = 0
  const first = dice.int(2)
  for (let round = 0; round < rounds && faults.length === 0; round++) {
    const before = await server.get(path)
    const object = before.json
    const changed = (round + first) % 2 === 0
      ? edited(object)
      : {
          ...mixed(object, subject.random()), metadata: object['metadata'], kind: one.kind, apiVersion: one.apiVersion
        }
    for await (const [what, answer] of harmless(subject, object, changed)) {
      answered++
      if (answer.code === 500) faults.push(`${what}: ${answer.body}, sent ${JSON.stringify(changed)}`)
      const after = await server.get(path)
      if (after.body !== before.body) faults.push(`${what}: ${answer.code}, then GET differs: ${after.body}`)
      if (faults.length > 0) break
    }
    for (const other of [url, ...others]) {
      const { json } = await server.get(`${other}/${name}`)
      if (!one.verbs.includes('update')) continue
      const put = await server.put(`${other}/${name}`, json)
      // Another version may refuse what it could not have created.
      if (put.code !== 200 && (put.code !== 422 || other === url)) {
        faults.push(`an update of ${other} without changes: ${put.body}`)
      }
      const after = await server.get(`${other}/${name}`)
      if (after.json['metadata'].resourceVersion !== json['metadata'].resourceVersion) {
        faults.push(`an update of ${other} without changes wrote ${after.body}`)
      }
    }
    // Further rounds have more to lose.
    if (!FOLLOWED.includes(one.kind)) {
      for (const place of [path, `${path}/status`]) {
        await server.put(place, { ...changed, metadata: { name, labels: object['metadata'].labels } })
      }
    }
  }
  t.same(faults, [], `after ${answered} requests`)
}

t.test(`whatever is refused, conflicts or is a dry run changes nothing (SEED=${dice.seed})`, async t => {
  for await (const { server, one } of eachServed(t)) {
    await t.test(title(one), async t => {
      await create(server, one)
      const [url, name] = [urlOf(one), nameOf(one.group, one.plural)]
      // An object that was updated is kept as it was written.
      if (one.verbs.includes('patch')) {
        t.match(await server.patch(`${url}/${name}`, { metadata: { labels: { written: 'twice' } } }), { code: 200 })
      }
      await check(
        t,
        {
          server, one, url, name,
          others: one.type.representations.filter(other =>
            other !== one && stored.includes(other) === stored.includes(one)).map(urlOf),
          random: () => plain(value(dice, one.message))
        },
        ROUNDS.served
      )
      await server.patch(`${url}/${name}`, { metadata: { finalizers: null } })
      await server.delete(`${url}/${name}`, { gracePeriodSeconds: 0, propagationPolicy: 'Background' })
    })
  }
})

t.test(`nor does it change objects of a definition (SEED=${dice.seed})`, async t => {
  const server = await build(t)
  const schema = (more: Json): Json => ({
    openAPIV3Schema: {
      type: 'object',
      properties: {
        spec: {
          type: 'object', default: { size: 1 },
          properties: {
            size: { type: 'integer', default: 2 }, free: { type: 'object', 'x-orch-preserve-unknown-fields': true },
            held: { type: 'object', 'x-orch-embedded-resource': true, 'x-orch-preserve-unknown-fields': true },
            list: {
              type: 'array',
              items: {
                type: 'object',
                required: ['name'],
                properties: { name: { type: 'string' }, port: { type: 'integer', default: 80 } }
              },
              'x-orch-list-type': 'map',
              'x-orch-list-map-keys': ['name']
            },
            ...more
          }
        },
        status: {
          type: 'object',
          default: {},
          properties: {
            count: { type: 'integer', default: 0 },
            map: { type: 'object', additionalProperties: { type: 'string' }, default: { a: 'b' } }
          }
        }
      }
    }
  })
  const subresources = { status: {}, scale: { specReplicasPath: '.spec.size', statusReplicasPath: '.status.count' } }
  const versions = [
    { name: 'v1', served: true, storage: true, schema: schema({}), subresources },
    {
      name: 'v2',
      served: true,
      storage: false,
      schema: schema({
        more: {
          type: 'array', default: [{}], items: { type: 'object', properties: { x: { type: 'string', default: 'y' } } }
        }
      }),
      subresources
    }
  ]
  t.match(
    await server.post('/apis/apiextensions.orch.io/v1/customresourcedefinitions', {
      metadata: { name: 'things.example.com' },
      spec: { group: 'example.com', scope: 'Namespaced', names: { plural: 'things', kind: 'Thing' }, versions }
    }),
    { code: 201 }
  )
  const urls = ['v1', 'v2'].map(version => `/apis/example.com/${version}/namespaces/default/things`)
  await polled(async () => (await server.get(String(urls[0]))).code === 200)
  for (const [at, url] of urls.entries()) {
    const apiVersion = `example.com/v${at + 1}`
    const spec = {
      free: { a: [{ b: 1 }] },
      held: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x', labels: { a: 'b' } } },
      list: [{ name: 'a' }, { name: 'b' }]
    }
    t.match(
      await server.post(url, {
        apiVersion, kind: 'Thing', metadata: { name: `v${at + 1}`, labels: { of: 'sample' } }, spec
      }),
      { code: 201 }
    )
    t.match(await server.patch(`${url}/v${at + 1}/status`, { status: { count: 3 } }), { code: 200 })
    const one = {
      kind: 'Thing',
      apiVersion,
      verbs: EVERY_VERB,
      subresources: [{ name: 'status', verbs: EVERY_VERB, changes: ['status'] }, { name: 'scale', verbs: EVERY_VERB }]
    }
    await check(
      t,
      {
        server, one, url, name: `v${at + 1}`, others: urls,
        random: () => ({
          spec: { size: dice.int(9), list: [{ name: 'c' }], free: { c: [[{}]] } }, status: { map: { c: 'd' } }
        })
      },
      ROUNDS.custom
    )
  }
})
