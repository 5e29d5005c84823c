import t from 'tap'
import { generateKeyPairSync } from 'node:crypto'
import { checkedFlags, configuration } from '../../config/options.js'
import type { ServerOptions } from '../../config/server-options.js'
import { parseTokenKeys } from '../../plugins/authentication/service-account/keys.js'
import { authority } from '../serving/authority.js'

const pemOf = (
  made: { privateKey: { export: (options: { type: 'pkcs8', format: 'pem' }) => string | Buffer } }
): string => made.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const ec = generateKeyPairSync('ec', { namedCurve: 'P-384' })
const p521 = generateKeyPairSync('ec', { namedCurve: 'P-521' })
const certificate = authority().certificate

const FILES = {
  rsa: pemOf(rsa),
  'rsa-public': rsa.publicKey.export({ type: 'spki', format: 'pem' }).toString(),
  'rsa-pkcs1': rsa.privateKey.export({ type: 'pkcs1', format: 'pem' }).toString(),
  'rsa-public-pkcs1': rsa.publicKey.export({ type: 'pkcs1', format: 'pem' }).toString(),
  ec: ec.privateKey.export({ type: 'sec1', format: 'pem' }).toString(),
  'ec-with-parameters':
    '-----BEGIN EC PARAMETERS-----\nBgUrgQQAIg==\n-----END EC ' +
    `PARAMETERS-----\n${ec.privateKey.export({ type: 'sec1', format: 'pem' }).toString()}`,
  several:
    `${ec.publicKey.export({ type: 'spki', format: 'pem' }).toString()}some ` +
    `text\n${p521.publicKey.export({ type: 'spki', format: 'pem' }).toString()}${certificate}`,
  small: pemOf(generateKeyPairSync('rsa', { modulusLength: 1024 })),
  ed: pemOf(generateKeyPairSync('ed25519')),
  k256: pemOf(generateKeyPairSync('ec', { namedCurve: 'secp256k1' })),
  encrypted: rsa.privateKey.export({ type: 'pkcs8', format: 'pem', cipher: 'aes-128-cbc', passphrase: 'x' }).toString(),
  broken: '-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n',
  none: 'no key'
}

const load = async (folder: string, args: string): Promise<ServerOptions['authentication']> =>
  (await configuration(checkedFlags([
    `--data-dir=${folder}/data`,
    ...args.split(' ').filter(arg => arg !== '').map(arg => arg.replaceAll('@', `${folder}/`))
  ]))).options.authentication

t.test('flags of tokens become options', async t => {
  const folder = t.testdir(FILES)
  t.match(await load(folder, ''), {
    bootstrapTokens: false,
    audiences: undefined,
    serviceAccounts: {
      issuers: undefined,
      lookup: true,
      extendExpiration: true,
      maxExpirationSeconds: 0,
      signingKey: undefined,
      verificationKeys: undefined,
      keysUri: undefined
    }
  })
  t.match(await load(
    folder,
    '--service-account-issuer=https://a,https://b --service-account-key-file=@rsa-public,@several ' +
    '--service-account-signing-key-file=@rsa --service-account-lookup=false ' +
    '--service-account-extend-token-expiration=false --service-account-max-token-expiration=2h ' +
    '--service-account-jwks-uri=https://keys/x --api-audiences=x,y --enable-bootstrap-token-auth'
  ), {
    bootstrapTokens: true,
    audiences: ['x', 'y'],
    serviceAccounts: {
      issuers: ['https://a', 'https://b'],
      lookup: false,
      extendExpiration: false,
      maxExpirationSeconds: 7200,
      signingKey: FILES.rsa,
      verificationKeys: [FILES['rsa-public'], FILES.several],
      keysUri: 'https://keys/x'
    }
  })
})

t.test('keys may be public, private or certificates, several in a file', async t => {
  const algorithms = (name: keyof typeof FILES) => parseTokenKeys(FILES[name]).map(({ algorithm }) => algorithm)
  for (const name of ['rsa', 'rsa-public', 'rsa-pkcs1', 'rsa-public-pkcs1'] as const) {
    t.same(algorithms(name), ['RS256'], name)
    t.equal(parseTokenKeys(FILES[name])[0]?.id, parseTokenKeys(FILES.rsa)[0]?.id, 'the id is that of the public key')
  }
  t.same(algorithms('ec'), ['ES384'])
  t.same(algorithms('ec-with-parameters'), ['ES384'])
  t.same(algorithms('several'), ['ES384', 'ES512', 'ES256'])
})

t.test('the key of the serving certificate verifies where no other is named', async t => {
  const pair = authority().issue({ commonName: 'server', uses: ['server'] })
  const folder = t.testdir({ crt: pair.certificate, key: pair.key })
  t.match(await load(folder, '--tls-cert-file=@crt --tls-private-key-file=@key'), {
    serviceAccounts: { verificationKeys: [pair.key], signingKey: undefined }
  })
})

t.test('unusable keys are named with their flag', async t => {
  const folder = t.testdir(FILES)
  const signing = '--service-account-issuer=https://a --service-account-key-file=@several'
  for (const [args, message] of [
    [
      '--service-account-key-file=@missing',
      /^--service-account-key-file=.*missing: cannot be read: there is no such file/
    ],
    ['--service-account-key-file=@rsa,@none', /^--service-account-key-file=.*none: it has no RSA or ECDSA key/],
    ['--service-account-key-file=@small', /1024 bits; it must have 2048/],
    ['--service-account-key-file=@ed', /type ed25519; it must be RSA, or ECDSA/],
    ['--service-account-key-file=@k256', /type secp256k1; it must be/],
    ['--service-account-key-file=@encrypted', /encrypted/],
    ['--service-account-key-file=@broken', /block number 1 of it \(PUBLIC KEY\)/],
    [
      `${signing} --service-account-signing-key-file=@rsa-public`,
      /^--service-account-signing-key-file=.*no private key/
    ],
    [
      `${signing} --service-account-signing-key-file=@rsa`,
      /^--service-account-signing-key-file=.*in no file of --service-account-key-file/
    ]
  ] as const) {
    await t.rejects(load(folder, args), { message }, args)
  }
})

t.test('the log says what flags switch off: the extension of tokens of pods, discovery', async t => {
  const warnings = async (...args: string[]) =>
    (await configuration(checkedFlags([`--data-dir=${t.testdirName}`, ...args]))).warnings
  t.match(await warnings('--service-account-max-token-expiration=1h'), [
    /^--service-account-extend-token-expiration has no effect.*below 3607 s/
  ])
  t.same(
    await warnings('--service-account-max-token-expiration=1h', '--service-account-extend-token-expiration=false'), []
  )
  t.same(await warnings('--service-account-max-token-expiration=2h'), [])
  t.match(await warnings('--service-account-issuer=orch,https://b'), [
    /^--service-account-issuer: orch is no https URL/
  ])
  t.same(await warnings('--service-account-issuer=https://a,b'), [])
})
