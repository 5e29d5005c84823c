import t from 'tap'
import { encodeToken } from '../../registry/verbs/continue-token.js'
import { TABLE, BINDINGS, build, binding, type Client } from '../build.js'
import { stillServes, refuses, type Case } from './refusal.js'

const CONFIGS = '/api/v1/namespaces/default/configmaps'

async function withObjects (t: Parameters<typeof build>[0], count = 3): Promise<Client> {
  const server = await build(t)
  for (let index = 0; index < count; index++) {
    await server.post(BINDINGS, binding(`b-${index}`, { metadata: { labels: { n: String(index) } } }))
  }
  return server
}

const list = (query: string, more: Partial<Case> = {}): Case => ({
  title: `GET ?${query.slice(0, 80)}`, method: 'GET', url: `${BINDINGS}?${query}`, ...more
})
const watch = (query: string, more: Partial<Case> = {}): Case => ({ ...list(`watch=1&${query}`), ...more })
const deleteAll = (query: string, more: Partial<Case> = {}): Case => ({
  title: `DELETE ?${query.slice(0, 80)}`, method: 'DELETE', url: `${BINDINGS}?${query}`, ...more
})
const write = (method: string, query: string, more: Partial<Case> = {}): Case => ({
  title: `${method} ?${query.slice(0, 80)}`, method,
  url: `${method === 'POST' ? BINDINGS : `${BINDINGS}/b-0`}?${query}`,
  ...(method === 'DELETE'
    ? {}
    : {
        body: method === 'PATCH' ? '{}' : binding('b-0'),
        headers: { 'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json' }
      }),
  ...more
})

const NO_NUMBERS = [
  'x', '1x', '1.5', '1e3', '0x10', '%201', '--1', '+', 'NaN', 'Infinity', 'true', '-', '99999999999999999999',
  '9'.repeat(1000), '%00', '%F0%9F%98%80', '[]', '%7B%7D'
]
const DEPLOYMENT = {
  metadata: { name: 'd' },
  spec: {
    selector: { matchLabels: { a: 'b' } },
    template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } }
  }
}
const ODD_BOOLEANS = ['', 'x', '2', '-1', 'yes', 'tru', '%20true', '%00', 'null', 'a'.repeat(1000)]

t.test('an invalid value of a parameter is 400 and names the parameter', async t => {
  const server = await withObjects(t)
  const before = (await server.get(BINDINGS)).body
  const cases: Case[] = []
  for (const value of NO_NUMBERS) {
    for (const name of ['limit', 'timeoutSeconds']) {
      for (const make of [list, watch, deleteAll]) cases.push(make(`${name}=${value}`, { says: new RegExp(name) }))
    }
    cases.push(
      write('DELETE', `gracePeriodSeconds=${value}`, { says: /gracePeriodSeconds/ }),
      deleteAll(`gracePeriodSeconds=${value}`, { says: /gracePeriodSeconds/ })
    )
  }
  for (const name of ['limit', 'timeoutSeconds']) {
    for (const make of [list, watch, deleteAll]) {
      cases.push(make(`${name}=-1`, { says: new RegExp(`${name}.*negative`) }))
    }
  }
  for (const value of ODD_BOOLEANS) {
    cases.push(write('PATCH', `force=${value}`, { codes: [422], says: /force: Forbidden/ }))
  }
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
    for (const value of ['all', 'ALL', 'None', 'true', '1', 'All,All', '%00', 'x'.repeat(1000)]) {
      cases.push(write(method, `dryRun=${value}`, { says: /dryRun/ }))
    }
    cases.push(write(method, 'dryRun=All&dryRun=Some', { says: /dryRun/ }))
    if (method === 'DELETE') continue
    for (const value of ['strict', 'STRICT', 'warn', 'true', '1', '__proto__', '%00']) {
      cases.push(write(method, `fieldValidation=${value}`, {
        codes: [422], says: /fieldValidation: Unsupported value/
      }))
    }
    for (const value of ['x'.repeat(129), '%C3%BC'.repeat(65), 'a%00b', 'a%0Ab', '%7F', '%C2%A0', '%E2%80%8B']) {
      cases.push(write(method, `fieldManager=${value}`, { codes: [422], says: /fieldManager/ }))
    }
  }
  cases.push(deleteAll('dryRun=Some', { says: /dryRun/ }))
  for (const value of ['orphan', 'Never', '__proto__', 'constructor', '%00']) {
    for (const make of [(query: string, more: Partial<Case>) => write('DELETE', query, more), deleteAll]) {
      cases.push(make(`propagationPolicy=${value}`, { codes: [422], says: /propagationPolicy/ }))
    }
  }
  for (const value of [
    'x', '-1', '1.5', '0x1', '1e3', '%201', '1%20', '%00', '99999999999999999999', '18446744073709551615',
    '9007199254740992', '%D9%A1', '9'.repeat(5000)
  ]) {
    cases.push(
      list(`resourceVersion=${value}`, { says: /resourceVersion/ }),
      watch(`resourceVersion=${value}`, { says: /resourceVersion/ }),
      deleteAll(`resourceVersion=${value}`, { says: /resourceVersion/ }),
      {
        title: `GET one ${value.slice(0, 30)}`,
        method: 'GET',
        url: `${BINDINGS}/b-0?resourceVersion=${value}`,
        says: /resourceVersion/
      }
    )
  }
  for (const value of ['exact', 'Newest', '__proto__', '%00']) {
    cases.push(
      list(`resourceVersion=1&resourceVersionMatch=${value}`, { says: /resourceVersionMatch/ }),
      deleteAll(`resourceVersion=1&resourceVersionMatch=${value}`, { says: /resourceVersionMatch/ })
    )
  }
  for (const make of [list, watch]) {
    cases.push({
      ...make('includeObject=Some'),
      headers: { accept: TABLE },
      says:
        /^Unable to convert to Table as requested: includeObject: Invalid value: "Some": must be 'Metadata', 'Object', 'None', or empty$/
    })
  }
  cases.push(
    list('sendInitialEvents=true', { codes: [422], says: /sendInitialEvents/ }),
    watch('sendInitialEvents=true', { codes: [422], says: /sendInitialEvents/ }),
    watch('resourceVersionMatch=NotOlderThan&resourceVersion=1', { codes: [422], says: /resourceVersionMatch/ }),
    watch('continue=x', { says: /continue/ })
  )
  await refuses(t, server, cases)
  t.equal((await server.get(BINDINGS)).json.items.length, 3, 'and nothing was deleted')
  t.equal(JSON.parse(before).items.length, 3)
})

t.test('a boolean parameter is true unless its value is 0 or false', async t => {
  const server = await withObjects(t)
  const orphan = async (value: string) => (await server.delete(
    `/apis/apps/v1/namespaces/default/deployments/d?dryRun=All&orphanDependents=${value}`
  )).json.metadata.finalizers
  await server.post('/apis/apps/v1/namespaces/default/deployments', DEPLOYMENT)
  for (const value of ODD_BOOLEANS) {
    t.equal((await server.get(`${BINDINGS}?allowWatchBookmarks=${value}`)).code, 200, `a list, ${value.slice(0, 20)}`)
    t.same(await orphan(value), ['orphan'])
  }
  for (const value of ['0', 'false', 'FALSE']) t.equal(await orphan(value), undefined)
})

t.test('invalid selectors are 400, however large or like a regular expression', async t => {
  const server = await withObjects(t)
  const encoded = (name: string, value: string, says: RegExp): Case[] => [
    list(`${name}=${encodeURIComponent(value)}`, { says }), watch(`${name}=${encodeURIComponent(value)}`, { says }),
    deleteAll(`${name}=${encodeURIComponent(value)}`, { says })
  ]
  const labels = (value: string): Case[] => encoded('labelSelector', value, /label selector|expected: |Invalid value: /)
  const fields = (value: string): Case[] =>
    encoded('fieldSelector', value, /field selector|field label|invalid selector: /)
  await refuses(t, server, [
    ...[
      '=', '==', '!', '!!a', 'a=b=c', 'a b', 'a in', 'a in (', 'a in (b', 'a in b', 'a notin (b,', 'a>b', 'a>', 'a<1.5',
      'a>0x1', ',', 'a,', ',a', 'a,,b', '(a)', '(.*)+$', '^(a+)+$', 'a=(x+x+)+y', '[a-z]*', 'a/b/c', '/a', 'a/', '-a',
      'a-', 'a=-b', `a=${'b'.repeat(64)}`, `${'a'.repeat(64)}`, 'é=1', 'a=é', 'a\0b', 'a=\0', '__proto__',
      '__proto__=x', '"a"', "a='b'", 'a;b', '('.repeat(60_000), '!'.repeat(60_000), `a in (${'('.repeat(60_000)}`,
      'a,'.repeat(30_000), 'x'.repeat(100_000), `${'a'.repeat(70_000)}=b`
    ].flatMap(labels),
    ...[
      'a', 'a=', 'spec.x=1', 'metadata.labels.a=1', '__proto__=x', 'constructor=x', 'toString=', 'metadata.name',
      'metadata.name=a=b', 'metadata.name=a\\', 'metadata.name=\\x', '=', '!=a', '==', 'metadata.name!a', '(.*)+=x',
      '^(a+)+$=a', '\\'.repeat(60_000), '='.repeat(60_000), 'x'.repeat(100_000), 'a=b,'.repeat(15_000),
      '!'.repeat(60_000)
    ].flatMap(fields)
  ])
  t.equal((await server.get(BINDINGS)).json.items.length, 3)
})

t.test('the largest valid selectors delay other requests little', async t => {
  const { Loop, MAX_KEPT } = await import('./refusal.js')
  const server = await withObjects(t, 300)
  const loop = new Loop()
  const many = Array.from({ length: 4000 }, (_, index) => `l${index}!=x`).join(',')
  for (const [name, selector] of [
    ['labelSelector', many],
    ['labelSelector', `n in (${Array.from({ length: 9000 }, (_, index) => `v${index}`).join(',')})`],
    ['labelSelector', Array.from({ length: 4000 }, (_, index) => `n>${index}`).join(',')],
    ['fieldSelector', Array.from({ length: 3000 }, () => 'metadata.name!=x').join(',')]
  ] as const) {
    const { result, ms } = await loop.leastHeld(() => server.get(`${BINDINGS}?${name}=${encodeURIComponent(selector)}`))
    t.equal(result.code, 200)
    t.ok(ms < MAX_KEPT, `${name} of ${selector.length} characters: ${ms.toFixed(0)} ms`)
  }
  await stillServes(t, server)
})

t.test('forged continue tokens are refused, or return only what the request may read', async t => {
  const server = await withObjects(t)
  await server.post('/api/v1/namespaces', { metadata: { name: 'other' } })
  await server.post('/api/v1/namespaces/other/configmaps', { metadata: { name: 'hidden' } })
  await server.post(CONFIGS, { metadata: { name: 'shown-a' } })
  await server.post(CONFIGS, { metadata: { name: 'shown-b' } })
  const token = (value: unknown): string =>
    Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')
  const { resourceVersion, continue: real } = (await server.get(`${CONFIGS}?limit=1`)).json.metadata
  const rv = Number(resourceVersion)
  const own = JSON.parse(Buffer.from(real, 'base64url').toString())
  const forged = [
    'x', '!', '%00', '='.repeat(10), 'e30', real.slice(0, -3), `${real}x`, 'A'.repeat(100_000), token('null'),
    token('[]'), token('1'), token({}), token({ ...own, v: 'v0' }), token({ ...own, rv: -2 }), token({ ...own, rv: 0 }),
    token({ ...own, rv: 1.5 }), token({ ...own, rv: '1' }), token({ ...own, rv: 1e300 }),
    token({ ...own, rv: 2 ** 53 }),
    ...[
      '', '/', '../other/', '..', '.', './a', 'a/../../other', '/registry', '\0', 'a\0b', 'ü', '\n', ' \x7f', 5, null,
      {}, [], ['a'], true
    ].flatMap(start => [token({ ...own, start }), token({ ...own, start, rv: -1 })]),
    token('{"__proto__":{"rv":1}}'), token(`{"v":"meta.orch.io/v1","rv":${rv},"start":"a"`),
    token(`[${'['.repeat(5000)}`)
  ]
  await refuses(t, server, forged.flatMap(one => [
    { title: `token ${one.slice(0, 40)}`, method: 'GET', url: `${CONFIGS}?limit=1&continue=${one}`, says: /continue/ },
    {
      title: `delete by token ${one.slice(0, 40)}`,
      method: 'DELETE',
      url: `${CONFIGS}?limit=1&continue=${one}`,
      says: /continue/
    }
  ]))
  const from = async (
    next: string, query = 'limit=500&'
  ): Promise<Array<{ metadata: { namespace: string, name: string } }> | undefined> =>
    (await server.get(`${CONFIGS}?${query}continue=${encodeToken({ revision: rv, next })}`)).json.items
  const items = await from('!')
  t.ok(
    items !== undefined && items.length > 0 && items.every(({ metadata }) => metadata.namespace === 'default'),
    'a token that starts before the namespace returns objects of the namespace only'
  )
  t.notOk((await from('other/hidden', ''))?.some(({ metadata }) => metadata.name === 'hidden'))
  for (const { metadata } of await from('~') ?? []) t.fail(`behind the last: ${metadata.name}`)
  await refuses(t, server, [
    {
      title: 'with another version',
      method: 'GET',
      url: `${CONFIGS}?limit=1&continue=${real}&resourceVersion=${rv - 1}`,
      says: /resource version/
    },
    {
      title: 'with a match',
      method: 'GET',
      url: `${CONFIGS}?limit=1&continue=${real}&resourceVersion=${rv}&resourceVersionMatch=Exact`,
      says: /resourceVersionMatch/
    }
  ])
  t.equal((await server.get(CONFIGS)).json.items.length, 2)
})

t.test('names of any length and letters page without a gap', async t => {
  const server = await build(t)
  const names = [
    'a'.repeat(1500), 'b'.repeat(253), '"'.repeat(1200), '\\'.repeat(1200), 'é'.repeat(250), 'x y', 'tab\tbed', '~',
    '!', '\u{1f600}'.repeat(100)
  ]
  for (const name of names) t.equal((await server.post(BINDINGS, binding(name))).code, 201, name.slice(0, 10))
  const seen: string[] = []
  let token = ''
  do {
    const { code, json } = await server.get(`${BINDINGS}?limit=1&continue=${token}`)
    t.equal(code, 200)
    if (code !== 200) return
    seen.push(...json.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name))
    token = json.metadata.continue ?? ''
  } while (token !== '')
  t.same(new Set(seen), new Set(names))
  t.equal(seen.length, names.length)
  for (const name of names) {
    t.equal(
      (await server.get(`${BINDINGS}/${encodeURIComponent(name)}`)).json.metadata?.name, name,
      'each is found by its path'
    )
  }
})

t.test('a bad Accept header is 406 or ignored, and costs little', async t => {
  const server = await withObjects(t)
  const accept = (value: string, more: Partial<Case> = {}): Case => ({
    title: `Accept: ${value.slice(0, 60)}`,
    method: 'GET',
    url: `${BINDINGS}/b-0`,
    headers: { accept: value },
    codes: [406],
    ...more
  })
  await refuses(t, server, [
    accept('text/html'), accept('application/xml'), accept('x'), accept('/'), accept('application/'), accept(';;;;'),
    accept(','.repeat(5000)), accept('application/json;q=0'), accept('*/*;q=0'), accept('application/json;q=abc'),
    accept(
      'application/json;as=Other;g=meta.orch.io;v=v1'
    ), accept(
      'application/json;as=Table;g=other;v=v1'
    ), accept(
      'application/json;as=Table;g=meta.orch.io;v=v9'
    ), accept(
      'application/json;as=__proto__;g=meta.orch.io;v=v1'
    ), accept('__proto__'), accept('application/vnd.orch.protobuf;as=Table;g=meta.orch.io;v=v1'),
    accept(`${'a/b;q=0.1,'.repeat(6000)}text/html`), accept(`application/json;${'x=y;'.repeat(10_000)}q=0`),
    accept('"'.repeat(10_000))
  ])
  t.equal((await server.get(`${BINDINGS}/b-0`, { accept: 'application/json;q=2, text/html' })).code, 200)
  t.equal((await server.get(`${BINDINGS}/b-0`, { accept: ';;,application/json' })).code, 200)
  t.equal((await server.get(`${BINDINGS}/b-0`, { accept: '*' })).code, 200, 'as upstream')
})

t.test('contradictory DeleteOptions are refused, and nothing is deleted', async t => {
  const server = await withObjects(t)
  const options = (body: unknown, more: Partial<Case> = {}): Case[] => [`${BINDINGS}/b-0`, BINDINGS].map(
    url => ({
      title: `DELETE ${JSON.stringify(body)?.slice(0, 60)} ${url === BINDINGS ? 'all' : 'one'}`,
      method: 'DELETE',
      url,
      body,
      headers: { 'content-type': 'application/json' },
      ...more
    })
  )
  await refuses(t, server, [
    ...options('{'), ...options('[]'), ...options('null'), ...options('1'), ...options({ kind: 'Other' }),
    ...options({ apiVersion: 'v9', kind: 'Pod' }),
    ...options({ gracePeriodSeconds: 'x' }, { says: /gracePeriodSeconds/ }), ...options({ gracePeriodSeconds: 1.5 }),
    ...options({ preconditions: 'x' }), ...options({ preconditions: { uid: 1 } }, { says: /preconditions\.uid/ }),
    ...options({ dryRun: 'All' }, { says: /dryRun/ }), ...options({ dryRun: ['Some'] }, { says: /dryRun/ }),
    ...options({ propagationPolicy: 'Never' }, { codes: [422], says: /propagationPolicy/ }),
    ...options({ propagationPolicy: 'Orphan', orphanDependents: true }, { codes: [422], says: /orphanDependents/ }),
    ...options({ preconditions: { uid: 'other' } }, { codes: [409] }),
    ...options({ preconditions: { resourceVersion: '1' } }, { codes: [409] }),
    ...options('{"a":'.repeat(100_000), { says: /deep/ })
  ])
  const { items } = (await server.get(BINDINGS)).json
  t.equal(items.length, 3)
  t.ok(items.every(({ metadata }: { metadata: { deletionTimestamp?: string } }) =>
    metadata.deletionTimestamp === undefined))
})
