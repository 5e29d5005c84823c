import t from 'tap'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Fastify from '../../fastify.js'
import orch from '../../../app.js'
import { openBackend } from '../../../storage/open.js'
import { build, client, listen, Watch, types, type Client, type Test } from '../../build.js'
import { polled } from '../../polled.js'

const CONFIGS = '/api/v1/namespaces/default/configmaps'
const NAMESPACES = '/api/v1/namespaces'
const config = (name: string) => ({ metadata: { name, labels: { name } }, data: { text: `the text of ${name}` } })

/** A folder with four objects: one has a damaged value, one cannot be decoded. */
async function damagedStore (t: Test): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'orch-damaged-'))
  t.teardown(() => { rmSync(directory, { recursive: true, force: true }) })
  const { app, post } = await build(t, { storage: { kind: 'embedded', directory } })
  for (const name of ['a', 'spoilt', 'z']) await post(CONFIGS, config(name))
  await app.close()
  const backend = await openBackend({ kind: 'embedded', directory })
  await backend.create('/registry/configmaps/default/junk', Buffer.from('not an object'))
  await backend.close()
  spoil(directory, 'the text of spoilt')
  return directory
}

/** Changes every occurrence in the file, because unused pages contain it too. */
function spoil (directory: string, text: string): void {
  const file = join(directory, 'data.mdb')
  const bytes = readFileSync(file)
  if (!bytes.includes(text)) throw new RangeError(`${text} is not there`)
  for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + 1)) bytes.write('#', at)
  writeFileSync(file, bytes)
}

const damage = (name: string) => ({
  code: 500,
  json: {
    kind: 'Status', reason: 'InternalError', message: new RegExp(`/registry/configmaps/default/${name} is damaged`)
  }
})

async function serves (t: Tap, server: Client): Promise<void> {
  t.match(await server.get(`${CONFIGS}/a`), { code: 200, json: { data: { text: 'the text of a' } } })
  t.equal((await server.get(`${CONFIGS}/z`)).code, 200)
  for (const name of ['spoilt', 'junk']) {
    t.match(await server.get(`${CONFIGS}/${name}`), damage(name))
    t.match(await server.put(`${CONFIGS}/${name}`, config(name)), damage(name))
    t.match(await server.patch(`${CONFIGS}/${name}`, { data: null }), damage(name))
    t.match(await server.post(CONFIGS, config(name)), { code: 409, json: { reason: 'AlreadyExists' } })
    t.match(await server.get(`${CONFIGS}?fieldSelector=metadata.name=${name}`), damage(name))
  }
  t.match(await server.get(CONFIGS), damage('(junk|spoilt)'))
  t.match(await server.get('/api/v1/configmaps?limit=500'), damage('(junk|spoilt)'))
  t.match(await server.call('DELETE', CONFIGS), damage('(junk|spoilt)'))
  t.match(await server.get(`${CONFIGS}?fieldSelector=metadata.name=a`), {
    code: 200, json: { items: [{ metadata: { name: 'a' } }] }
  })
  t.equal((await server.get('/api/v1/namespaces/orch-system/configmaps')).code, 200, 'a list that has none of them')
  t.equal((await server.post(CONFIGS, config('new'))).code, 201)
  t.match(await server.delete(`${CONFIGS}/spoilt`, { preconditions: { uid: 'some' } }), { code: 409 })
  t.match(await server.call('DELETE', `${CONFIGS}/spoilt?dryRun=All`), { code: 200 })
  for (const name of ['spoilt', 'junk']) {
    t.match(await server.delete(`${CONFIGS}/${name}`), { code: 200, json: { status: 'Success' } })
    t.equal((await server.get(`${CONFIGS}/${name}`)).code, 404)
    t.equal((await server.delete(`${CONFIGS}/${name}`)).code, 404)
  }
  t.strictSame(
    (await server.get(CONFIGS)).json.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name),
    ['a', 'new', 'z']
  )
  t.equal((await server.post(CONFIGS, config('spoilt'))).code, 201)
}
type Tap = Test & typeof t

t.test('a damaged object is named, can be deleted and does not hide others', async t => {
  const server = await build(t, { storage: { kind: 'embedded', directory: await damagedStore(t) } })
  await serves(t as Tap, server)
})

t.test('the same without a cache', async t => {
  const server = await build(t, {
    storage: { kind: 'embedded', directory: await damagedStore(t) }, watchCache: { size: 0 }
  })
  await serves(t as Tap, server)
})

t.test('a watch does not start from an incomplete state, and ends when a damaged object is deleted', async t => {
  const server = await listen(t, { storage: { kind: 'embedded', directory: await damagedStore(t) } })
  t.match(await server.get(`${CONFIGS}?watch=1`), damage('(junk|spoilt)'))
  const { json } = await server.get(`${CONFIGS}/z`)
  const { resourceVersion } = (await server.post(CONFIGS, config('new'))).json.metadata
  t.ok(Number(resourceVersion) > Number(json.metadata.resourceVersion))
  const watch = await Watch.open(t, `${server.url}${CONFIGS}?watch=1&resourceVersion=${resourceVersion}`)
  await server.post(CONFIGS, config('newer'))
  t.strictSame(types(await watch.take(1)), ['ADDED newer'])
  t.equal((await server.delete(`${CONFIGS}/spoilt`)).code, 200)
  t.match(await watch.take(2), [{ type: 'ADDED' }, { type: 'ERROR', object: { code: 410, reason: 'Expired' } }])
  await watch.end()
  t.match(await server.get(CONFIGS), damage('junk'))
})

t.test('the log names each damaged object once, and the server becomes ready', async t => {
  const lines: string[] = []
  const app = Fastify({ logger: { level: 'info', stream: { write: line => { lines.push(line) } } } })
  t.teardown(() => app.close())
  await app.register(orch, { storage: { kind: 'embedded', directory: await damagedStore(t) } })
  await app.ready()
  const server = client(app)
  await polled(async () => (await server.get('/readyz')).code === 200)
  for (const name of ['junk', 'spoilt']) {
    t.equal(
      lines.filter(line => line.includes(`the object /registry/configmaps/default/${name} is damaged`)).length, 1, name
    )
  }
})

t.test('a damaged namespace affects only the objects in it', async t => {
  const directory = mkdtempSync(join(tmpdir(), 'orch-damaged-'))
  t.teardown(() => { rmSync(directory, { recursive: true, force: true }) })
  const before = await build(t, { storage: { kind: 'embedded', directory } })
  await before.post(NAMESPACES, { metadata: { name: 'team', annotations: { note: 'the text of team' } } })
  await before.patch(`${NAMESPACES}/default`, { metadata: { annotations: { note: 'the text of default' } } })
  await before.post('/api/v1/namespaces/team/configmaps', config('inside'))
  await before.app.close()
  spoil(directory, 'the text of team')
  spoil(directory, 'the text of default')
  const server = await build(t, { storage: { kind: 'embedded', directory } })
  t.equal((await server.get('/api/v1/namespaces/team/configmaps/inside')).code, 200)
  t.match(await server.post('/api/v1/namespaces/team/configmaps', config('another')), {
    code: 500, json: { message: /\/registry\/namespaces\/team is damaged/ }
  })
  t.equal((await server.post(NAMESPACES, { metadata: { name: 'other' } })).code, 201)
  await polled(async () => (await server.get('/api/v1/namespaces/other/serviceaccounts/default')).code === 200)
  t.equal((await server.delete(`${NAMESPACES}/team`)).code, 200)
  t.equal((await server.delete(`${NAMESPACES}/default`)).code, 200, 'even one that may not be deleted otherwise')
  t.equal((await server.get(NAMESPACES)).code, 200)
})
