/** Wrong encryption configurations end the start, or a host's registration, with one line without secrets. */
import t from 'tap'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { checkOptions } from '../../config/checks/index.js'
import { FlagError } from '../../config/flag.js'
import { checkedFlags, configuration } from '../../config/options.js'
import { keyServiceOf } from '../key-service.js'

const folder = await mkdtemp(join(tmpdir(), 'orch-encryption-'))
t.teardown(() => rm(folder, { recursive: true, force: true }))
const file = join(folder, 'encryption.yaml')

const SECRET = Buffer.from('a secret of just thirty-two byte').toString('base64')
const HEAD = 'apiVersion: apiserver.config.orch.io/v1\nkind: EncryptionConfiguration\n'
const of = (...providers: string[]): string =>
  `${HEAD}resources:\n- resources: [secrets]\n  providers:\n${providers.map(provider => `  - ${provider}\n`).join('')}`
const aesgcm = (key: string): string => of(`aesgcm: {keys: [${key}]}`)
const kms = (fields: string): string => of(`kms: {${fields}}`)

const AT = 'resources[0].providers[0]'

const WRONG: ReadonlyArray<readonly [text: string, says: string | RegExp]> = [
  ['', 'it is not an object'],
  ['text', 'it is not an object'],
  ['a: [', /^it is not valid YAML/],
  [
    of('identity: {}').replace('apiserver.config.orch.io/v1', 'v1'),
    'it is EncryptionConfiguration of v1, not EncryptionConfiguration of apiserver.config.orch.io/v1'
  ],
  [
    of('identity: {}').replace(/kind: .*/, 'kind: EncryptionConfig'),
    'it is EncryptionConfig of apiserver.config.orch.io/v1, not EncryptionConfiguration of apiserver.config.orch.io/v1'
  ],
  [
    of('identity: {}').replace(/kind: .*/, ''),
    'it needs kind and apiVersion: EncryptionConfiguration of apiserver.config.orch.io/v1'
  ],
  [`${of('identity: {}')}more: 1`, 'unknown field "more"'],
  [aesgcm(`{name: a, secret: ${SECRET}, secrt: ${SECRET}}`), `unknown field "${AT}.aesgcm.keys[0].secrt"`],
  [aesgcm(`{name: a, secret: ${SECRET}, secret: ${SECRET}}`), `duplicate field "${AT}.aesgcm.keys[0].secret"`],
  [HEAD, 'resources: Required value: at least one entry is required'],
  [
    of('identity: {}').replace('[secrets]', '[]'),
    'resources[0].resources: Required value: at least one resource is required'
  ],
  [
    `${HEAD}resources: [{resources: [secrets], providers: []}]`,
    'resources[0].providers: Required value: at least one provider is required'
  ],
  [of('{}'), `${AT}: Required value: must have one of kms, aesgcm, aescbc, secretbox, identity`],
  [of('identity:'), `${AT}: Required value: must have one of kms, aesgcm, aescbc, secretbox, identity`],
  [
    of(`identity: {}\n    aesgcm: {keys: [{name: a, secret: ${SECRET}}]}`),
    `${AT}: Invalid value: "aesgcm, identity": has more than one provider; make each an entry of its own`
  ],
  [of('aesgcm: {keys: []}'), `${AT}.aesgcm.keys: Required value: at least one key is required`],
  [aesgcm(`{name: "", secret: ${SECRET}}`), `${AT}.aesgcm.keys[0].name: Required value`],
  [aesgcm(`{secret: ${SECRET}}`), `${AT}.aesgcm.keys[0].name: Required value`],
  [aesgcm('{name: a, secret: ""}'), `${AT}.aesgcm.keys[0].secret: Required value`],
  [
    aesgcm(`{name: a, secret: "${SECRET}!"}`),
    `${AT}.aesgcm.keys[0].secret: Invalid value: "REDACTED": secrets must be base64 encoded`
  ],
  [
    aesgcm(`{name: a, secret: "${SECRET.replace('=', '')}"}`),
    `${AT}.aesgcm.keys[0].secret: Invalid value: "REDACTED": secrets must be base64 encoded`
  ],
  [
    aesgcm('{name: a, secret: YWJj}'),
    `${AT}.aesgcm.keys[0].secret: Invalid value: "REDACTED": secret is not of the expected length, got 3, expected ` +
    'one of [16 24 32]'
  ],
  [
    of(`secretbox: {keys: [{name: a, secret: ${Buffer.alloc(24).toString('base64')}}]}`),
    `${AT}.secretbox.keys[0].secret: Invalid value: "REDACTED": secret is not of the expected length, got 24, ` +
    'expected one of [32]'
  ],
  [
    aesgcm(`{name: a, secret: ${SECRET}}, {name: a, secret: ${SECRET}}`),
    `${AT}.aesgcm.keys[1].name: Duplicate value: "a"`
  ],
  [aesgcm(`{name: a, secret: [${SECRET}]}`), /secret: expected a string, got a list$/],
  [aesgcm(SECRET), /keys\[0\]: expected an object, got a string$/],
  [of(`aesgcm: {keys: ${SECRET}}`), /keys: expected a list, got a string$/],
  [of(`aesgcm: ${SECRET}`), /aesgcm: expected an object, got a string$/],
  [of(SECRET), /providers\[0\]: expected an object, got a string$/],
  [aesgcm('{name: a, secret: 12345678901234567890123}'), /secret: expected a string, got a number$/],
  [kms('endpoint: "unix:///a"'), `${AT}.kms.name: Required value`],
  [kms('name: a'), `${AT}.kms.endpoint: Required value`],
  ...[
    'tcp://127.0.0.1:1', 'unix://relative', 'unix:///', '/run/kms.sock', 'unix:///@abstract', 'http://a/b'
  ].map(endpoint =>
    [
      kms(`name: a, endpoint: "${endpoint}"`),
      `${AT}.kms.endpoint: Invalid value: "${endpoint}": must be the path of a socket: unix:///PATH`
    ] as const),
  [kms(`name: a, endpoint: "unix:///${'a'.repeat(107)}"`), /kms\.endpoint: Too long: must have at most 1\d\d bytes$/],
  [
    kms('name: a, endpoint: "unix:///a", cachesize: 0'),
    `${AT}.kms.cachesize: Invalid value: 0: cachesize should be a positive value, or negative to disable`
  ],
  [
    kms('name: a, endpoint: "unix:///a", timeout: 0s'),
    `${AT}.kms.timeout: Invalid value: "0s": timeout should be a positive value`
  ],
  [
    kms('name: a, endpoint: "unix:///a", timeout: -1s'),
    `${AT}.kms.timeout: Invalid value: "-1s": timeout should be a positive value`
  ],
  [kms('name: a, endpoint: "unix:///a", timeout: soon'), /timeout: expected a duration/],
  [
    kms('apiVersion: v3, name: a, endpoint: "unix:///a"'),
    `${AT}.kms.apiVersion: Unsupported value: "v3": supported values: "v1", "v2"`
  ],
  [
    kms('apiVersion: v2, name: a, endpoint: "unix:///a", cachesize: 10'),
    `${AT}.kms.cachesize: Invalid value: 10: cachesize is not supported in v2`
  ],
  [
    kms('apiVersion: v2, name: "a:b", endpoint: "unix:///a"'),
    `${AT}.kms.name: Invalid value: "a:b": must not contain a colon`
  ],
  [
    `${of('kms: {apiVersion: v2, name: a, endpoint: "unix:///a"}')}- resources: [configmaps]\n  providers:\n  - kms: ` +
    '{apiVersion: v2, name: a, endpoint: "unix:///a"}\n',
    'resources[1].providers[0].kms.name: Duplicate value: "a"'
  ],
  [
    of('kms: {name: a, endpoint: "unix:///a"}', 'kms: {name: a, endpoint: "unix:///a"}'),
    'resources[0].providers[1].kms.name: Duplicate value: "a"'
  ],
  [
    `${of('kms: {name: a, endpoint: "unix:///a"}')}- resources: [configmaps]\n  providers:\n` +
    '  - kms: {name: a, endpoint: "unix:///b"}\n',
    'resources[1].providers[0].kms.name: Duplicate value: "a"'
  ],
  [
    of('identity: {}').replace('secrets', 'secret'),
    'resources[0].resources[0]: secret is no resource of this version; did you mean secrets?'
  ],
  [
    of('identity: {}').replace('secrets', 'deployments.app'),
    /^resources\[0\]\.resources\[0\]: deployments\.app is no resource of this version/
  ],
  [
    of('identity: {}').replace('secrets', 'events.events.orch.io'),
    'resources[0].resources[0]: events.events.orch.io is stored as events; name that'
  ],
  [
    of('identity: {}').replace('secrets', '"*"'),
    'resources[0].resources[0]: Invalid value: "*": must be the name of one resource, PLURAL or PLURAL.GROUP, or all ' +
    'of a group, *. or *.GROUP, or *.*'
  ],
  [
    of('identity: {}').replace('secrets', '"*.*", secrets'),
    'resources[0].resources[1]: secrets and *.* of the same entry overlap; leave one out'
  ],
  [
    of('identity: {}').replace('secrets', 'secrets, secrets'),
    'resources[0].resources[1]: secrets and secrets of the same entry overlap; leave one out'
  ],
  [
    of('identity: {}').replace('secrets', 'deployments.apps, "*.apps"'),
    'resources[0].resources[1]: *.apps and deployments.apps of the same entry overlap; leave one out'
  ],
  [
    of('identity: {}').replace('secrets', '"*.app"'),
    'resources[0].resources[0]: *.app: app is no group of this version'
  ],
  [
    `${of('identity: {}').replace('secrets', '"*."')}- resources: [secrets]\n  providers:\n  - identity: {}\n`,
    'resources[1].resources[0]: secrets is never used: *. of an earlier entry comes first'
  ],
  [of('identity: {}').replace('[secrets]', SECRET), /resources: expected a list, got a string$/]
]

const start = async (): Promise<Awaited<ReturnType<typeof configuration>>> =>
  await configuration(checkedFlags([`--data-dir=${folder}/data`, `--encryption-provider-config=${file}`]))

for (const [text, says] of WRONG) {
  t.test(String(says), async t => {
    await writeFile(file, text)
    const error: unknown = await start().then(() => undefined, (error: unknown) => error)
    if (!(error instanceof FlagError)) throw new Error(`started, or ${String(error)}`)
    const head = `--encryption-provider-config=${file}: `
    t.equal(error.message.slice(0, head.length), head)
    const said = error.message.slice(head.length)
    if (typeof says === 'string') t.equal(said, says)
    else t.match(said, says)
    t.notMatch(
      `${error.message} ${String(error.cause)} ${error.stack ?? ''}`,
      new RegExp(`\\n--|${SECRET.slice(0, 12)}|thirty-two|1234567890`)
    )
  })
}

t.test('a missing file, a folder and a name without a file', async t => {
  const started = async (path: string): Promise<string> => await configuration(
    checkedFlags([`--data-dir=${folder}/data`, `--encryption-provider-config=${path}`])
  ).then(() => '', (error: unknown) => String(error))
  t.match(
    await started(join(folder, 'none')), /--encryption-provider-config=.*none: cannot be read: there is no such file/
  )
  t.match(await started(folder), /--encryption-provider-config=.*: cannot be read: it is not an ordinary file/)
})

t.test(
  "upstream's valid forms are accepted: identity alone or first, custom resources, keys of all lengths, " +
  'one service for two resources',
  async t => {
    const accepted = [
      of('identity: {}'),
      of(
        'identity: {}',
        `aescbc: {keys: [{name: a, secret: ${SECRET}}, {name: b, secret: "${Buffer.alloc(16).toString('base64')}"}, ` +
        `{name: c, secret: ${Buffer.alloc(24).toString('base64')}}]}`
      ),
      of(`aesgcm: {keys: [{name: a, secret: ${SECRET}}]}`, `aesgcm: {keys: [{name: a, secret: ${SECRET}}]}`),
      `${of('identity: {}')}- resources: ["*.apps", "*.example.com", "*."]\n  providers:\n  - identity: {}\n` +
      '- resources: ["*.*"]\n  providers:\n  - identity: {}\n',
      of('kms: {name: a, endpoint: "unix:///a", apiVersion: v1}'),
      of('identity: {}').replace('secrets', 'secrets, things.example.com, deployments.apps'),
      `${of('kms: {name: a, endpoint: "unix:///a"}')}- resources: [configmaps]\n  providers:\n` +
      '  - kms: {name: a, endpoint: "unix:///a"}\n',
      JSON.stringify({
        apiVersion: 'apiserver.config.orch.io/v1',
        kind: 'EncryptionConfiguration',
        resources: [{ resources: ['secrets'], providers: [{ identity: {} }] }]
      })
    ]
    for (const text of accepted) {
      await writeFile(file, text)
      t.ok((await start()).options.storage?.encryption?.resources?.length, text)
    }
  }
)

t.test('key services of version 1 need their gate from release 1.29 on', async t => {
  await writeFile(file, kms('name: a, endpoint: "unix:///a"'))
  const later = (...flags: string[]) => configuration(checkedFlags([
    `--data-dir=${folder}/data`, `--encryption-provider-config=${file}`, '--emulated-version=1.36', ...flags
  ]))
  await t.rejects(later(), /the key service a speaks version 1 of the protocol/)
  t.ok((await later('--feature-gates=KMSv1=true')).options.storage?.encryption)
  await writeFile(file, kms('apiVersion: v2, name: a, endpoint: "unix:///a"'))
  t.ok((await later()).options.storage?.encryption)
  t.ok((await start()).options.storage?.encryption, 'under the release of the interface too')
  const encryption = {
    resources: [{ resources: ['secrets'], providers: [{ kms: { name: 'a', endpoint: 'unix:///a' } }] }]
  }
  t.throws(
    () => { checkOptions({ emulatedVersion: '1.36', storage: { encryption } }) },
    /storage.encryption: the key service a/
  )
  checkOptions({ storage: { encryption } })
})

t.test('a missing socket gives a warning, as the service may start later', async t => {
  const service = await keyServiceOf(t)
  await writeFile(
    file,
    of(`kms: {name: one, endpoint: "${service.endpoint}"}`, 'kms: {name: two, endpoint: "unix:///nowhere/kms.sock"}')
  )
  const { warnings } = await start()
  t.same(warnings.filter(line => line.includes('encryption')), [
    '--encryption-provider-config: nothing listens at unix:///nowhere/kms.sock, the key service two: what it ' +
    'encrypts can be neither read nor written until it starts'
  ])
})

t.test('the option of a host has the checks of the flag; kind and apiVersion are optional', async t => {
  const check = (encryption: unknown): string => {
    try {
      checkOptions({ storage: { encryption } })
      return ''
    } catch (error) {
      return error instanceof TypeError ? error.message : `no TypeError: ${String(error)}`
    }
  }
  const provider = { aesgcm: { keys: [{ name: 'a', secret: SECRET }] } }
  t.equal(check({ resources: [{ resources: ['secrets'], providers: [provider] }] }), '')
  t.equal(
    check({
      kind: 'EncryptionConfiguration',
      apiVersion: 'apiserver.config.orch.io/v1',
      resources: [{ resources: ['secrets'], providers: [provider] }]
    }),
    ''
  )
  t.equal(check('aesgcm'), 'storage.encryption: a string: must be an object')
  t.equal(check({}), 'storage.encryption: resources: Required value: at least one entry is required')
  t.equal(
    check({ resources: [{ resources: ['secret'], providers: [provider] }] }),
    'storage.encryption: resources[0].resources[0]: secret is no resource of this version; did you mean secrets?'
  )
  const said = check({ resources: [{ resources: ['secrets'], providers: [{ aesgcm: { keys: SECRET } }] }] })
  t.match(said, /keys: expected a list, got a string$/)
})
