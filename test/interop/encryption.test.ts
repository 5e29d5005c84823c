/**
 * An operator turns encryption on, rotates a key and turns it off, with a real launcher and kubectl, and looks into the
 * files of the store.
 */
import t from 'tap'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openBackend } from '../../storage/open.js'
import { startEtcd } from '../etcd-process.js'
import { keyServiceOf } from '../key-service.js'
import { freePort } from '../ports.js'
import { key } from '../storage/encryption/configured.js'
import { Kubectl, programs, type Program } from './kubectl.js'
import { RunningServer, ServerHere } from './server.js'

const CLI = fileURLToPath(new URL('../../bundle/cli.js', import.meta.url))
const TEXT = 'the text of a secret that no file has'
const [OLD, NEW] = [key('old', 1), key('new', 2)]

/** A configuration file that can be rewritten. */
function configured (
  t: { teardown: (fn: () => unknown) => void }
): { flag: string, write: (...providers: object[]) => void } {
  const folder = mkdtempSync(join(tmpdir(), 'orch-configured-'))
  t.teardown(() => { rmSync(folder, { recursive: true, force: true }) })
  const file = join(folder, 'encryption.yaml')
  return {
    flag: `--encryption-provider-config=${file}`,
    write: (...providers) => {
      writeFileSync(
        file,
        JSON.stringify({
          apiVersion: 'apiserver.config.orch.io/v1',
          kind: 'EncryptionConfiguration',
          resources: [{ resources: ['secrets'], providers }]
        }),
        { mode: 0o600 }
      )
    }
  }
}

/** True if a file of the folder has the text, or its base64. */
const isIn = (folder: string, text: string): boolean => readdirSync(folder, { withFileTypes: true }).some(file => {
  if (!file.isFile()) return false
  const bytes = readFileSync(join(folder, file.name))
  return bytes.includes(text) || bytes.includes(Buffer.from(text).toString('base64').slice(0, -4))
})

const [older, newer] = programs() as [Program, Program] // there are two

t.test(`kubectl ${newer.version}: on, rotated by rewriting, and off`, async t => {
  const { flag, write } = configured(t)
  write({ aesgcm: { keys: [OLD] } }, { identity: {} })
  const server = await RunningServer.start(t, [flag])
  const data = join(server.folder, 'data')
  const kubectl = new Kubectl(t, newer, server.tokenConfig())
  const rewrite = async (): Promise<void> => {
    const all = kubectl.file('secrets.json', await kubectl.ok('get', 'secrets', '--all-namespaces', '--output=json'))
    t.match(await kubectl.ok('replace', `--filename=${all}`), /^secret\/one replaced/m)
  }
  const text = async (): Promise<string> =>
    Buffer.from(await kubectl.ok('get', 'secret', 'one', '--output=jsonpath={.data.text}'), 'base64').toString()
  const restart = async (...providers: object[]): Promise<void> => {
    await server.stop()
    write(...providers)
    await server.start()
  }
  /** Stops the server, reads how the Secret is stored, and starts the server again with these providers. */
  const form = async (...providers: object[]): Promise<string> => {
    await server.stop()
    const backend = await openBackend({ kind: 'embedded', directory: data })
    const { kv } = await backend.get('/registry/secrets/default/one')
    await backend.close()
    t.match(
      spawnSync(process.execPath, [CLI, 'fsck', `--data-dir=${data}`], { encoding: 'utf8' }),
      { status: 0, stdout: /^clean: / }
    )
    await restart(...providers)
    return /^orch:enc:[a-z]+:v1:[a-z]+:/.exec(Buffer.from(kv?.value ?? '').toString('latin1'))?.[0] ?? 'plain'
  }

  await kubectl.ok('create', 'secret', 'generic', 'one', `--from-literal=text=${TEXT}`)
  await kubectl.ok('label', 'secret', 'one', 'changed=true')
  t.equal(await text(), TEXT)
  t.equal(await form({ aesgcm: { keys: [NEW, OLD] } }), 'orch:enc:aesgcm:v1:old:')
  t.notOk(isIn(data, TEXT), 'no file of the store has it, free pages included')

  t.equal(await text(), TEXT)
  await rewrite()
  t.equal(await form({ aesgcm: { keys: [NEW] } }), 'orch:enc:aesgcm:v1:new:')
  t.equal(await text(), TEXT)
  t.equal(await kubectl.ok('get', 'secrets', '--all-namespaces', '--output=name'), 'secret/one')
  t.notOk(isIn(data, TEXT))

  await restart({ identity: {} }, { aesgcm: { keys: [NEW] } })
  await rewrite()
  t.equal(await form({ identity: {} }), 'plain')
  t.ok(isIn(data, TEXT))
  t.equal(await text(), TEXT)
  t.notMatch(server.log, new RegExp(`${TEXT}|${Buffer.from(TEXT).toString('base64')}|${OLD.secret}|${NEW.secret}`))
})

t.test('etcd, with servers of their own for Secrets and a key service', async t => {
  const [etcd, own] = [await startEtcd(t), await startEtcd(t)]
  const service = await keyServiceOf(t)
  const { flag, write } = configured(t)
  write({ kms: { name: 'local', endpoint: service.endpoint } })
  const server = await ServerHere.start(
    t, [flag, `--etcd-servers=${etcd.url}`, `--etcd-servers-overrides=/secrets#${own.url}`]
  )
  const kubectl = new Kubectl(t, older, server.tokenConfig())
  await kubectl.ok('create', 'secret', 'generic', 'one', `--from-literal=text=${TEXT}`)
  await kubectl.ok('create', 'configmap', 'one', '--from-literal=text=plain')
  const backend = await openBackend({ kind: 'etcd', servers: [own.url] })
  t.teardown(() => backend.close())
  t.match(
    Buffer.from((await backend.get('/registry/secrets/default/one')).kv?.value ?? '').toString('latin1'),
    /^orch:enc:kms:v1:local:/
  )
  t.equal(
    Buffer.from(await kubectl.ok('get', 'secret', 'one', '--output=jsonpath={.data.text}'), 'base64').toString(), TEXT
  )
  t.match(await kubectl.ok('get', '--raw=/readyz?verbose'), /^\[\+\]kms-provider-0 ok$/m)

  await service.stop()
  t.match(
    await kubectl.refused('create', 'secret', 'generic', 'two', '--from-literal=text=x'),
    /Internal error occurred: the key service local failed/
  )
  t.match(await kubectl.ok('get', 'configmaps', 'one', '--output=name'), 'configmap/one')
  await service.start()
  await kubectl.ok('create', 'secret', 'generic', 'two', '--from-literal=text=x')
})

t.test('a start with a wrong configuration ends with one line without the secret', async t => {
  const { flag, write } = configured(t)
  write({ secretbox: { keys: [{ name: 'a', secret: OLD.secret.slice(0, -4) }] } })
  const folder = mkdtempSync(join(tmpdir(), 'orch-refused-'))
  t.teardown(() => { rmSync(folder, { recursive: true, force: true }) })
  const { status, stderr } = spawnSync(
    process.execPath,
    [CLI, flag, `--secure-port=${await freePort()}`, `--data-dir=${folder}/data`, `--cert-dir=${folder}`],
    { encoding: 'utf8', timeout: 30_000 }
  )
  t.equal(status, 1)
  t.match(
    stderr,
    /^orch-apiserver: --encryption-provider-config=.*: resources\[0\]\.providers\[0\]\.secretbox\.keys\[0\]\.secret: Invalid value: "REDACTED": [^\n]*\n$/
  )
  t.notMatch(stderr, new RegExp(OLD.secret.slice(0, 12)))
})
