import t from 'tap'
import { isClientError } from '../../clients/errors.js'
import { credentialsFor, parseKubeconfig, endpointOf, readKubeconfig, type Endpoint } from '../../clients/kubeconfig.js'

const PEM = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'
const DATA = Buffer.from(PEM).toString('base64')

const file = (cluster: object, user: object = {}, more: object = {}): Buffer => Buffer.from(JSON.stringify({
  apiVersion: 'v1', kind: 'Config',
  clusters: [{ name: 'c', cluster: { server: 'https://peer.example:8443/hook', ...cluster } }],
  users: [{ name: 'u', user }],
  contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
  'current-context': 'x',
  ...more
}))
const read = (cluster: object, user?: object, more?: object, context?: string): Endpoint =>
  endpointOf(parseKubeconfig(file(cluster, user, more), '/etc/hook/kubeconfig'), context)

t.test('a kubeconfig has the server, its authority and the credentials', async t => {
  const endpoint = read(
    { 'certificate-authority': 'ca.crt', 'tls-server-name': 'inside', 'proxy-url': 'http://proxy:3128' },
    { 'client-certificate-data': DATA, 'client-key': '/keys/k', token: 'secret', tokenFile: '../token' }
  )
  t.equal(endpoint.server.href, 'https://peer.example:8443/hook')
  t.equal(endpoint.proxy?.href, 'http://proxy:3128/')
  t.match(endpoint, {
    authority: { path: '/etc/hook/ca.crt' }, insecure: false, serverName: 'inside',
    credentials: {
      certificate: { data: PEM }, key: { path: '/keys/k' }, token: 'secret', tokenFile: '/etc/token', basic: undefined
    }
  })
  t.match(read({ 'certificate-authority-data': DATA, 'certificate-authority': 'ignored' }).authority, { data: PEM })
  t.match(
    read({ 'insecure-skip-tls-verify': true }, { username: 'ann', password: 'p' }),
    { insecure: true, credentials: { basic: { username: 'ann', password: 'p' } } }
  )
})

t.test('a kubeconfig in YAML is read, and the requested context is used', async t => {
  const config = parseKubeconfig(Buffer.from(`
clusters:
- {name: one, cluster: {server: "http://one"}}
- {name: two, cluster: {server: two.example}}
contexts: [{name: a, context: {cluster: one}}, {name: b, context: {cluster: two}}]
current-context: a
`), 'k')
  t.equal(endpointOf(config).server.host, 'one')
  t.equal(endpointOf(config, 'b').server.href, 'http://two.example/')
})

t.test('missing, contradictory and unsupported members are refused by name', async t => {
  const exec = { exec: { apiVersion: 'v1', command: 'login' } }
  for (const [make, message] of [
    [() => read({}, exec), /exec of user "u" is not supported/],
    [() => read({}, { 'auth-provider': { name: 'gcp' } }), /auth-provider of user "u" is not supported/],
    [() => read({}, { as: 'root' }), /as of user "u" is not supported/],
    [() => read({ 'certificate-autority': 'ca' }), /certificate-autority of cluster "c" is not supported/],
    [() => read({ server: '' }), /cluster "c" has no server/],
    [() => read({ server: 'https://' }), /server of cluster "c" is not a URL/],
    [() => read({ server: 'https://a:b@c' }), /may have a host and a path, nothing else/],
    [() => read({ server: 'ftp://c' }), /ftp is not supported/],
    [() => read({ 'proxy-url': 'socks5://c' }), /proxy-url of cluster "c": socks5 is not supported/],
    [() => read({ 'insecure-skip-tls-verify': true, 'certificate-authority': 'ca' }), /contradict each other/],
    [() => read({ 'insecure-skip-tls-verify': 'yes' }), /not true or false/],
    [() => read({ 'certificate-authority-data': 'AAAA' }), /not PEM in base64/],
    [() => read({}, { 'client-certificate': 'a' }), /needs client-certificate and client-key together/],
    [() => read({}, { token: 'a', username: 'b' }), /a token and a username/],
    [() => read({}, { password: 'b' }), /a password and no username/],
    [() => read({}, { token: 'a\r\nb: c' }), /characters that no header can hold/],
    [() => read({}, { token: 7 }), /token of user "u" is not text/],
    [() => read({}, {}, { 'current-context': '' }), /no current-context/],
    [() => read({}, {}, {}, 'other'), /no context "other"/],
    [() => read({}, {}, { clusters: [] }), /no cluster "c"/],
    [() => read({}, {}, { users: [] }), /no user "u"/],
    [() => read({}, {}, { users: {} }), /users is not a list/],
    [() => read({}, {}, { kind: 'Pod' }), /it is a Pod of v1/],
    [() => parseKubeconfig(Buffer.from('a: b: c'), 'k'), /kubeconfig k: it is not valid YAML/],
    [() => parseKubeconfig(Buffer.from('just text'), 'k'), /it is not an object/]
  ] as const) {
    try {
      make()
      t.fail(`accepted, not refused with ${String(message)}`)
    } catch (error) {
      t.match(error, { code: 'Config', message })
      t.notOk(String(error).includes('\n'), 'in one line')
    }
  }
  await t.rejects(readKubeconfig('/nowhere/kubeconfig'), {
    code: 'Config', message: 'kubeconfig /nowhere/kubeconfig cannot be read: there is no such file'
  })
})

t.test('a secret is never in an error', async t => {
  for (const make of [
    () => read({}, { token: 'hush\n' }), () => read({}, { token: 'hush', username: 'ann' }),
    () => read({ server: 'https://u:hush@c' })
  ]) {
    try {
      make()
      t.fail('accepted')
    } catch (error) {
      t.ok(isClientError(error, 'Config'))
      t.notOk(String(error).includes('hush'))
    }
  }
})

t.test('users that are called by hosts are found from the exact name to any', async t => {
  const config = parseKubeconfig(
    Buffer.from(JSON.stringify({
      users: ['hook.team.svc', '*.team.svc', '*.svc'].map(name => ({ name, user: { token: name } }))
    })),
    'k'
  )
  const tokenFor = (host: string): string | undefined => credentialsFor(config, host)?.token
  t.equal(tokenFor('hook.team.svc'), 'hook.team.svc')
  t.equal(tokenFor('other.team.svc'), '*.team.svc')
  t.equal(tokenFor('a.b.svc'), '*.svc')
  t.equal(tokenFor('elsewhere'), undefined)
  const any = parseKubeconfig(Buffer.from(JSON.stringify({ users: [{ name: '*', user: { token: 'any' } }] })), 'k')
  t.equal(credentialsFor(any, 'elsewhere')?.token, 'any')
})
