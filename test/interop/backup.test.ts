/**
 * An operator takes a snapshot of a loaded server, continues, and restores the snapshot: with real launchers, on both
 * kinds of stores.
 */
import t, { type Test } from 'tap'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runBeside } from '../config/commands/command.js'
import { startEtcd } from '../etcd-process.js'
import { key } from '../storage/encryption/configured.js'
import { RunningServer } from './server.js'

const CONFIGS = '/api/v1/namespaces/default/configmaps'
const TEXT = 'the text of a secret that no file has'

const root = mkdtempSync(join(tmpdir(), 'orch-backup-'))
t.teardown(() => { rmSync(root, { recursive: true, force: true }) })
const encryption = join(root, 'encryption.yaml')
writeFileSync(
  encryption,
  JSON.stringify({
    apiVersion: 'apiserver.config.orch.io/v1',
    kind: 'EncryptionConfiguration',
    resources: [{ resources: ['secrets'], providers: [{ aesgcm: { keys: [key('one', 1)] } }] }]
  }),
  { mode: 0o600 }
)

interface Listed {
  readonly metadata: { readonly resourceVersion: string, readonly continue?: string }
  readonly items: ReadonlyArray<{
    readonly metadata: { readonly name: string, readonly resourceVersion: string }
    readonly data?: Record<string, string>
  }>
}
const list = async (server: RunningServer, query = ''): Promise<Listed> =>
  JSON.parse((await server.ask(`${CONFIGS}${query}`)).body) as Listed

/** Writes pairs, `a` before `b`, one after the other, until it is stopped. */
function writer (server: RunningServer, name: string): { stop: () => Promise<number> } {
  const state = { stopped: false }
  let written = 0
  const writing = (async () => {
    for (; !state.stopped; written++) {
      for (const half of ['a', 'b']) {
        const { code, body } = await server.ask(CONFIGS, 'POST', {
          metadata: { name: `${half}-${name}-${written}` }, data: { text: 'x'.repeat(500) }
        })
        if (code !== 201) throw new Error(`${code} ${body}; the log of the server: ${server.log.slice(-4000)}`)
      }
    }
    return written
  })()
  return { stop: async () => { state.stopped = true; return await writing } }
}

/** Halves without the other half, and missing names before others of the same writer. */
function gaps (names: readonly string[]): string[] {
  const all = new Set(names)
  return names.flatMap(name => {
    const [half, writer, number] = name.split('-')
    if (half !== 'a' && half !== 'b') return []
    const before = half === 'b' ? `a-${writer}-${number}` : `b-${writer}-${Number(number) - 1}`
    return all.has(before) || (half === 'a' && number === '0') ? [] : [`${name} without ${before}`]
  })
}

const expired = async (t: Test, server: RunningServer, path: string, what: string): Promise<void> => {
  const { code, body } = await server.ask(path)
  t.ok(code === 410 || /"type":"ERROR".*"code":410/.test(body), `${what}: ${code} ${body.slice(0, 300)}`)
}

for (const kind of ['embedded', 'etcd'] as const) {
  t.test(
    `${kind}: a snapshot under load is one moment, and clients of the lost time list again`, { timeout: 120_000 },
    async t => {
      const etcd = kind === 'etcd' ? await startEtcd(t) : undefined
      const common = [`--encryption-provider-config=${encryption}`, '--enable-priority-and-fairness=false']
      const server = await RunningServer.start(t, [
        ...common, ...(etcd === undefined ? [] : [`--etcd-servers=${etcd.url}`])
      ])
      const store = etcd === undefined ? `--data-dir=${join(server.folder, 'data')}` : `--etcd-servers=${etcd.url}`
      t.equal(
        (await server.ask('/api/v1/namespaces/default/secrets', 'POST', {
          metadata: { name: 'one' }, stringData: { text: TEXT }
        })).code,
        201
      )
      t.equal(
        (await server.ask('/api/v1/namespaces/default/events', 'POST', {
          metadata: { name: 'one' }, involvedObject: { namespace: 'default' }
        })).code,
        201
      )
      const writers = ['one', 'two', 'three'].map(name => writer(server, name))
      const file = join(root, `${kind}.snapshot`)
      while ((await list(server)).items.length < 30) await new Promise(resolve => { setTimeout(resolve, 10) })
      const before = await list(server, '?limit=5')
      t.match(await runBeside('snapshot', file, store), { status: 0, stderr: '' })
      const after = await list(server)
      await Promise.all(writers.map(each => each.stop()))
      const lost = (await list(server)).metadata.resourceVersion
      t.equal((await server.ask('/readyz')).code, 200)
      t.equal(await server.stop(), 0)
      t.notMatch(server.log, /ERROR/)
      const bytes = readFileSync(file)
      t.notOk(
        bytes.includes(TEXT) || bytes.includes(Buffer.from(TEXT).toString('base64')), 'encrypted values stay encrypted'
      )
      t.ok(bytes.includes('orch:enc:aesgcm:v1:one:'))

      const target =
        kind === 'etcd' ? `--etcd-servers=${(await startEtcd(t)).url}` : `--data-dir=${join(root, 'restored')}`
      t.match(await runBeside('restore', file, target), { status: 0, stderr: '' })
      const restored = await RunningServer.start(t, [...common, target])
      const found = await list(restored)
      const names = found.items.map(({ metadata }) => metadata.name)
      t.strictSame(gaps(names), [])
      t.ok(names.length >= before.items.length && names.length <= after.items.length, 'of a moment while it was taken')
      t.match(
        JSON.parse((await restored.ask('/api/v1/namespaces/default/secrets/one')).body),
        { data: { text: Buffer.from(TEXT).toString('base64') } }
      )
      t.equal((await restored.ask('/api/v1/namespaces/default/events/one')).code, 200)
      const versions = new Map(after.items.map(({ metadata }) => [metadata.name, metadata.resourceVersion]))
      const kept = found.items.filter(({ metadata: { name, resourceVersion } }) =>
        /^[ab]-/.test(name) && versions.get(name) === resourceVersion)
      t.equal(
        kept.length, kind === 'embedded' ? names.filter(name => /^[ab]-/.test(name)).length : 0,
        'objects keep their versions, or have new ones'
      )

      for (const [version, what] of [
        [before.metadata.resourceVersion, 'before the snapshot'],
        [after.metadata.resourceVersion, 'after it'],
        [lost, 'in the lost time'],
        [String(Number(lost) + 100_000), 'beyond']
      ] as const) {
        await expired(
          t, restored, `${CONFIGS}?watch=1&timeoutSeconds=2&resourceVersion=${version}`, `a watch from ${what}`
        )
        await expired(
          t, restored, `${CONFIGS}?resourceVersion=${version}&resourceVersionMatch=Exact&limit=1`, `a list ${what}`
        )
      }
      await expired(t, restored, `${CONFIGS}?limit=5&continue=${before.metadata.continue ?? ''}`, 'a continued list')
      t.equal((await restored.ask(CONFIGS, 'POST', { metadata: { name: 'new' } })).code, 201)
      const watch = `${CONFIGS}?watch=1&timeoutSeconds=2&resourceVersion=${found.metadata.resourceVersion}`
      const events = (await restored.ask(watch)).body.split('\n')
        .filter(line => line !== '')
        .map(line => JSON.parse(line) as { type: string, object: { metadata: { name: string } } })
      t.strictSame(
        events.map(({ type, object }) => [type, object.metadata.name]), [['ADDED', 'new']],
        'a watch from the new list continues'
      )
      t.equal((await restored.ask(`${CONFIGS}/a-one-0`, 'DELETE')).code, 200)
      t.equal(await restored.stop(), 0)
      if (kind === 'etcd') return
      await restored.start()
      t.equal((await restored.ask(`${CONFIGS}/new`)).code, 200)
      t.equal((await restored.ask(`${CONFIGS}/a-one-0`)).code, 404)
    }
  )
}
