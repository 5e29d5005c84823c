import t from 'tap'
import { BINDINGS, build, binding, type Client, type Json } from '../build.js'
import { stillServes, refuses, type Case } from './refusal.js'

const JSON_PATCH = 'application/json-patch+json'
const MERGE_PATCH = 'application/merge-patch+json'
const STRATEGIC = 'application/strategic-merge-patch+json'
const URL = `${BINDINGS}/there`

const operations = (body: unknown, title = JSON.stringify(body).slice(0, 80), more: Partial<Case> = {}): Case => ({
  title, method: 'PATCH', url: URL, body, headers: { 'content-type': JSON_PATCH }, codes: [422], ...more
})
const merge = (body: unknown, title = String(body).slice(0, 80), more: Partial<Case> = {}): Case => ({
  title, method: 'PATCH', url: URL, body, headers: { 'content-type': MERGE_PATCH }, ...more
})
const repeat = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index))

async function withObject (
  t: Parameters<typeof build>[0], more: Json = {}
): Promise<{ server: Client, version: string }> {
  const server = await build(t)
  const { json } = await server.post(
    BINDINGS, binding('there', { metadata: { labels: { a: '1' }, annotations: { k: 'v' } }, ...more })
  )
  return { server, version: json.metadata.resourceVersion }
}

t.test('a patch that is not a list of operations is 400, naming the operation and the member', async t => {
  const { server, version } = await withObject(t)
  const bad = (body: unknown, says: RegExp): Case => operations(body, undefined, { codes: [400], says })
  await refuses(t, server, [
    bad({}, /list of operations/), bad('null', /list of operations/), bad('"x"', /list/), bad('[', /not valid JSON/),
    bad('', /empty/), bad([1], /operation 0 must be an object/), bad([null], /operation 0/), bad([[]], /operation 0/),
    bad([{ op: ['add'], path: '/a', value: 1 }], /operation 0: "op"/),
    bad([{ op: 'test', path: '/kind', value: 'ClusterRoleBinding' }, { op: 5, path: '/a' }], /operation 1: "op"/),
    bad([{ op: 'remove', path: 5 }], /"path"/), bad([{ op: 'remove', path: ['/a'] }], /"path"/),
    bad([{ op: 'move', path: '/a', from: {} }], /"from"/)
  ])
  t.equal((await server.get(URL)).json.metadata.resourceVersion, version)
})

t.test('a member of an operation may be any JSON value, and is never taken for what it looks like', async t => {
  const { server, version } = await withObject(t)
  const hostile = [
    'toString', 'valueOf', 'toJSON', 'startsWith', 'split', 'length', 'includes', 'then', 'constructor', '__proto__',
    'Symbol.toPrimitive'
  ]
  const values = [
    null,
    true,
    false,
    0,
    -1,
    1.5,
    1e300,
    '',
    'x',
    '/metadata/labels/b',
    [],
    ['/a'],
    [[]],
    {},
    ...hostile.flatMap(name =>
      [null, 1, 'x', [], {}].map(value => JSON.parse(`{${JSON.stringify(name)}:${JSON.stringify(value)}}`) as unknown))
  ]
  const whole = { op: 'test', path: '/metadata/labels/a', from: '/metadata/labels/a', value: '2' }
  const fails = { op: 'test', path: '/kind', value: 'Other' }
  const cases: Case[] = []
  for (const op of ['add', 'remove', 'replace', 'move', 'copy', 'test']) {
    for (const member of ['op', 'path', 'from', 'value']) {
      // A failing test operation follows, so that nothing is changed.
      for (const value of values) {
        cases.push(operations(
          [{ ...whole, op, [member]: value }, fails], `${op}: ${member} ${JSON.stringify(value)}`, { codes: [400, 422] }
        ))
      }
    }
  }
  for (const value of values.filter(value => typeof value !== 'string' && value !== null)) {
    cases.push(operations(
      [{ op: 'remove', path: value }], `path ${JSON.stringify(value)}`, { codes: [400], says: /operation 0: "path"/ }
    ))
  }
  await refuses(t, server, cases)
  t.equal((await server.get(URL)).json.metadata.resourceVersion, version)
})

t.test('an operation that no object fits is 422, once the object is found', async t => {
  const { server, version } = await withObject(t)
  const faulty: Array<readonly [operation: Json, says: RegExp]> = [
    [{}, /"op"/], [{ op: null, path: '/a' }, /"op"/], [{ op: 'destroy', path: '/a' }, /"op"/],
    [{ op: '__proto__', path: '/a' }, /"op"/], [{ op: 'constructor', path: '/a' }, /"op"/],
    [{ op: 'remove' }, /"path"/], [{ op: 'remove', path: null }, /"path"/], [{ op: 'remove', path: 'a' }, /"path"/],
    [{ op: 'remove', path: '/a~2' }, /"path"/], [{ op: 'remove', path: '/a~' }, /"path"/],
    [{ op: 'move', path: '/a' }, /"from"/], [{ op: 'copy', path: '/a', from: 'b' }, /"from"/]
  ]
  await refuses(t, server, faulty.flatMap(([operation, says]) => [
    operations(
      [{ op: 'add', path: '/metadata/labels/done', value: 'yes' }, operation], undefined,
      { says: new RegExp(`operation 1.*${says.source}`) }
    ),
    operations([operation], `${JSON.stringify(operation)} of nothing`, { url: `${BINDINGS}/none`, codes: [404] })
  ]))
  t.equal((await server.get(URL)).json.metadata.resourceVersion, version)
})

t.test('a value that is left out is null', async t => {
  const { server } = await withObject(t)
  const patch = async (operation: Json): Promise<unknown> =>
    (await server.patch(URL, [operation], JSON_PATCH)).json.metadata.labels
  t.same(await patch({ op: 'add', path: '/metadata/labels/b' }), { a: '1', b: '' })
  t.same(await patch({ op: 'replace', path: '/metadata/labels/a' }), { a: '', b: '' })
  t.equal((await server.patch(URL, [{ op: 'test', path: '/metadata/labels/a' }], JSON_PATCH)).code, 422)
  t.equal((await server.patch(URL, [{ op: 'test', path: '/metadata/labels/none' }], JSON_PATCH)).code, 200)
})

t.test('a strategic merge patch may name another type, which is that of the object nevertheless', async t => {
  const server = await build(t)
  await server.post('/api/v1/namespaces/default/configmaps', { metadata: { name: 'c' } })
  const patch = async (more: Json): ReturnType<Client['patch']> =>
    await server.patch('/api/v1/namespaces/default/configmaps/c', { ...more, data: { a: 'b' } }, STRATEGIC)
  t.match(await patch({ kind: 'Secret', apiVersion: 'example.com/v9' }), {
    code: 200, json: { kind: 'ConfigMap', apiVersion: 'v1', data: { a: 'b' } }
  })
  t.match(await patch({ kind: null, apiVersion: null }), { code: 200, json: { kind: 'ConfigMap', apiVersion: 'v1' } })
  t.match(await patch({ kind: 5 }), { code: 422 })
})

t.test('an operation that cannot be applied is 422, naming its number, and nothing of its patch is stored', async t => {
  const { server, version } = await withObject(t)
  const first = { op: 'add', path: '/metadata/labels/done', value: 'yes' }
  const misfit = (operation: Json): Case =>
    operations([first, operation], undefined, { codes: [422], says: /operation 1/ })
  await refuses(t, server, [
    misfit({ op: 'remove', path: '/metadata/labels/none' }), misfit({ op: 'replace', path: '/none/x', value: 'x' }),
    misfit({ op: 'test', path: '/metadata/labels/a', value: '2' }),
    misfit({ op: 'test', path: '/metadata/labels', value: { a: '1', done: 'yes', more: 'x' } }),
    misfit({ op: 'test', path: '/subjects', value: [] }), misfit({ op: 'test', path: '/subjects', value: { 0: 1 } }),
    misfit({ op: 'add', path: '/none/x', value: 1 }), misfit({ op: 'add', path: '/kind/x', value: 1 }),
    misfit({ op: 'copy', from: '/none', path: '/x' }), misfit({ op: 'move', from: '/none', path: '/x' }),
    misfit({ op: 'move', from: '/metadata', path: '/metadata/labels/x' }), misfit({ op: 'move', from: '', path: '/x' }),
    misfit({ op: 'remove', path: '' }),
    // Valid indexes of a list are decimal: 0 to its length, and as many from its end.
    ...[
      '-3', '-03', '+3', '03', '--1', '1e0', '0x0', ' 0', '0 ', '', 'x', '2', '1.0', 'length', '__proto__',
      'constructor', '4294967296', '18446744073709551616', '99999999999999999999', '9007199254740993'
    ].flatMap(index => [
      misfit({ op: 'replace', path: `/subjects/${index}/name`, value: 'hit' }),
      misfit({ op: 'remove', path: `/subjects/${index}` }),
      misfit({ op: 'add', path: `/subjects/${index}`, value: { kind: 'User', name: 'hit' } })
    ]),
    misfit({ op: 'add', path: '/subjects/3', value: { kind: 'User', name: 'hit' } }),
    misfit({ op: 'remove', path: '/subjects/-' }), misfit({ op: 'replace', path: '/subjects/-', value: {} }),
    misfit({ op: 'copy', from: '/subjects/-', path: '/x' }), misfit({ op: 'move', from: '/subjects/-', path: '/x' }),
    misfit({ op: 'test', path: '/subjects/-', value: {} })
  ])
  const { metadata, subjects } = (await server.get(URL)).json
  t.equal(metadata.resourceVersion, version)
  t.equal(subjects.length, 1)
  t.equal(
    (await server.patch(URL, [{ op: 'test', path: '/metadata/labels/none', value: null }], JSON_PATCH)).code, 200,
    'a test for null holds where there is nothing'
  )
})

t.test('no path reaches inherited properties', async t => {
  const { server } = await withObject(t)
  for (const path of [
    '/__proto__', '/constructor', '/toString', '/metadata/__proto__', '/metadata/constructor', '/subjects/__proto__',
    '/subjects/constructor'
  ]) {
    for (const end of ['/polluted', '/prototype/polluted', '/keys', '/name', '/__proto__/polluted']) {
      await refuses({
        ...t,
        ok: () => true,
        equal: t.equal.bind(t),
        fail: t.fail.bind(t),
        match: t.match.bind(t),
        comment: t.comment.bind(t)
      }, server, [
        operations([{ op: 'add', path: path + end, value: 'x' }]),
        operations([{ op: 'replace', path: path + end, value: 'x' }]), operations([{ op: 'remove', path: path + end }]),
        operations([{ op: 'copy', from: path + end, path: '/metadata/labels/x' }]),
        operations([{ op: 'move', from: path, path: '/metadata/labels/x' }]),
        operations([{ op: 'test', path: path + end, value: 'Object' }])
      ])
    }
  }
  // A member patched in under such a name is just an unknown field.
  for (const name of ['__proto__', 'constructor', 'prototype']) {
    const { code, headers } = await server.patch(
      URL,
      [
        { op: 'add', path: `/${name}`, value: { polluted: 'yes' } },
        { op: 'add', path: `/${name}/polluted`, value: 'yes' }
      ],
      JSON_PATCH
    )
    t.equal(code, 200)
    t.match(headers.warning, new RegExp(name))
    const merged = await server.call(
      'PATCH', URL, `{"${name}":{"polluted":"yes","constructor":{"prototype":{"polluted":1}}}}`,
      { 'content-type': MERGE_PATCH }
    )
    t.equal(merged.code, 200)
  }
  await stillServes(t, server)
})

t.test('patches that grow are stopped', async t => {
  const { server, version } = await withObject(t)
  const kind = { op: 'test', path: '/kind', value: 'ClusterRoleBinding' }
  const many = repeat(40_000, index => index)
  await refuses(t, server, [
    operations(repeat(10_001, () => kind), '10,001 operations', { codes: [413], says: /is 10000, got 10001/ }),
    operations(
      [
        { op: 'add', path: '/x', value: { y: 'x'.repeat(1000) } },
        ...repeat(40, index => ({ op: 'copy', from: '/x', path: `/x/y${index}` }))
      ],
      'all of it doubled 40 times', { says: /copies add up to more than/ }
    ),
    operations(
      repeat(40, index => ({ op: 'copy', from: '/metadata', path: `/metadata/x${index}` })),
      'metadata doubled 40 times', { says: /copies add up to more than/ }
    ),
    operations(
      [
        { op: 'add', path: '/x', value: ['x'.repeat(100_000)] },
        ...repeat(9000, () => ({ op: 'copy', from: '/x/0', path: '/x/-' }))
      ],
      'a long text copied',
      { says: /3 MiB/ }
    ),
    operations(
      [{ op: 'add', path: '/x', value: {} }, ...repeat(1200, () => ({ op: 'copy', from: '/x', path: '/x/x' }))],
      'nested by copies', { says: /copies add up|deep/ }
    ),
    operations(
      [
        { op: 'add', path: '/x', value: many }, ...repeat(2000, () => ({ op: 'add', path: '/x/0', value: 0 })),
        { op: 'test', path: '/kind', value: '' }
      ],
      'a long list filled at its head'
    ),
    operations(
      [
        { op: 'add', path: '/x', value: many }, ...repeat(2000, () => ({ op: 'remove', path: '/x/0' })),
        { op: 'test', path: '/kind', value: '' }
      ],
      'a long list emptied at its head'
    ),
    operations(
      [{ op: 'add', path: '/x', value: many }, ...repeat(2000, () => ({ op: 'test', path: '/x', value: 0 }))],
      'a long list tested'
    ),
    operations(
      `[{"op":"add","path":"/x","value":${'['.repeat(100_000)}${']'.repeat(100_000)}}]`, 'a deep value',
      { codes: [400], says: /levels deep/ }
    ),
    operations([{ op: 'add', path: '/a'.repeat(4_000), value: 1 }], 'a deep path'),
    operations([{ op: 'add', path: `/${'~1'.repeat(4_000)}/x`, value: 1 }], 'a long path'),
    operations(
      [{ op: 'add', path: '/a'.repeat(100_000), value: 1 }], 'a deeper path', { codes: [413], says: /8192 bytes/ }
    ),
    operations(
      [{ op: 'add', path: `/${'~1'.repeat(500_000)}/x`, value: 1 }], 'a longer path',
      { codes: [413], says: /8192 bytes/ }
    ),
    operations(`[${'{},'.repeat(60_000)}{}]`, '60,001 empty operations', { codes: [400], says: /values/ })
  ])
  t.equal((await server.get(URL)).json.metadata.resourceVersion, version)
  const nested = [
    { op: 'add', path: '/x', value: {} },
    ...repeat(4900, index => [
      { op: 'add', path: '/y', value: {} }, { op: 'move', from: '/x', path: '/y/x' },
      { op: 'move', from: '/y', path: '/x' }
    ][index % 3])
  ]
  t.equal((await server.patch(URL, nested, JSON_PATCH)).code, 200, 'deep nesting without growth is an unknown field')
  const inFields = [
    { op: 'add', path: '/metadata/managedFields', value: [{ manager: 'm', operation: 'Update', fieldsV1: {} }] },
    ...nested, { op: 'move', from: '/x', path: '/metadata/managedFields/0/fieldsV1' }
  ]
  t.match(
    await server.patch(URL, inFields, JSON_PATCH), { code: 422, json: { message: /managedFields/ } },
    'and invalid in a field of managed fields'
  )
  const fields = nested.map(operation => JSON.parse(JSON.stringify(operation).replace('/y/x', '/y/f:x')) as object)
  const deep = [inFields[0], ...fields, { op: 'move', from: '/x', path: '/metadata/managedFields/0/fieldsV1' }]
  t.ok([200, 422].includes((await server.patch(URL, deep, JSON_PATCH)).code), 'however deep')
  t.equal((await server.patch(URL, repeat(10_000, () => kind), JSON_PATCH)).code, 200, '10,000 operations are allowed')
  await stillServes(t, server)
})

t.test('merge patches that are not objects, nest too deeply or are too large are refused', async t => {
  const { server, version } = await withObject(t)
  await refuses(t, server, [
    merge('[]', undefined, { says: /must be an object/ }), merge('null', undefined, { says: /must be an object/ }),
    merge('1', undefined, { says: /must be an object/ }), merge('"x"', undefined, { says: /must be an object/ }),
    merge('', 'empty', { says: /empty/ }), merge('{', undefined, { says: /not valid JSON/ }),
    merge(`${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`, 'deep', { says: /levels deep/ }),
    merge(`{${'"a":{},'.repeat(60_000)}"a":{}}`, 'many', { says: /values/ }),
    merge(`{"metadata":{${'"name":"x",'.repeat(40_000)}"name":"y"}}`, 'one name 40,000 times', { codes: [400] }),
    merge('{"metadata":{"name":"other"}}', undefined, { says: /does not match the name on the URL/ }),
    merge('{"metadata":null}', undefined, { codes: [400, 422] }),
    merge('{"kind":"Other"}', undefined, { codes: [422], says: /kind/ }),
    merge('{"apiVersion":"v9"}', undefined, { codes: [422], says: /apiVersion/ }),
    merge('{"roleRef":null}', undefined, { codes: [422] }),
    merge('{"subjects":"x"}', undefined, { codes: [422], says: /subjects/ }),
    merge('{"metadata":{"labels":{"a":1}}}', undefined, { codes: [422], says: /metadata\.labels\.a/ }),
    merge('{"metadata":{"annotations":{"a":"\\ud800"}}}', 'half a pair', { codes: [422], says: /surrogate/ }),
    merge('{"metadata":{"labels":{"__proto__":"x"}}}', undefined, { codes: [422], says: /__proto__/ }),
    merge('{"metadata":{"uid":"x"}}', undefined, { codes: [422] }),
    merge('{"metadata":{"resourceVersion":"x"}}', undefined, { codes: [422] }),
    merge('{"metadata":{"resourceVersion":"99999999999999999999"}}', undefined, { codes: [409, 422] }),
    merge('{}', 'force without apply', { url: `${URL}?force=true`, codes: [422], says: /force: Forbidden/ }),
    merge('{}', 'force of a kind', { url: `${URL}?force=maybe`, codes: [422], says: /force: Forbidden/ })
  ])
  t.equal((await server.get(URL)).json.metadata.resourceVersion, version)
})

t.test('strategic merge patches that are none, nest, repeat or contradict themselves are refused', async t => {
  const { server, version } = await withObject(t, { metadata: { finalizers: ['a/b'] } })
  const strategic = (body: string, codes: number[], says?: RegExp): Case => merge(
    body, body.slice(0, 80), { headers: { 'content-type': STRATEGIC }, codes, ...(says === undefined ? {} : { says }) }
  )
  await refuses(t, server, [
    strategic('[]', [400], /must be an object/), strategic('null', [400], /must be an object/),
    strategic('{', [400], /not valid JSON/), strategic('', [400], /empty/),
    strategic(`${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`, [400], /levels deep/),
    strategic(`{${'"a":{},'.repeat(60_000)}"a":{}}`, [400], /values/),
    strategic(`{"$patch":"x",${'"$setElementOrder/a":[],'.repeat(15_000)}"a":{}}`, [400], /\$patch/),
    ...['1', 'null', '[]', '{}', '"__proto__"', '"toString"', '"DELETE"'].map(value =>
      strategic(`{"metadata":{"$patch":${value}}}`, [400], /metadata: \$patch/)),
    ...['1', 'null', '"x"', '{}', '{"length":1}'].flatMap(value =>
      ['$retainKeys', '$setElementOrder/finalizers', '$deleteFromPrimitiveList/finalizers'].map(
        name => strategic(`{"metadata":{"${name}":${value}}}`, [400], /must be a list/)
      )),
    ...[
      '$setElementOrder', '$setElementOrder/', '$setElementOrders/finalizers', '$deleteFromPrimitiveList',
      '$deleteFromPrimitiveListfinalizers'
    ].map(name => strategic(`{"metadata":{"${name}":[]}}`, [400], /must name a list/)),
    ...[
      'labels', 'none', '__proto__', 'constructor', 'finalizers/0'
    ].map(name => strategic(
      `{"metadata":{"$setElementOrder/${name}":[],"$deleteFromPrimitiveList/${name}":[]}}`, [400],
      /metadata\..*\$setElementOrder/
    )),
    strategic('{"metadata":{"ownerReferences":[{"uid":{}}]}}', [422]),
    strategic('{"metadata":{"finalizers":[[]]}}', [422], /finalizers/), strategic('{"metadata":null}', [400, 422]),
    strategic('{"$patch":"delete"}', [400], /name must be provided/),
    strategic('{"$retainKeys":[]}', [400], /name must be provided/),
    strategic('{"metadata":{"annotations":{"a":"\\ud800"}}}', [422], /surrogate/),
    strategic('{"metadata":{"labels":{"__proto__":"x"}}}', [422], /__proto__/)
  ])
  t.equal((await server.get(URL)).json.metadata.resourceVersion, version)
})
