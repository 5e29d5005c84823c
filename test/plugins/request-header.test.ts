/**
 * Users that an authenticating proxy names, over real TLS: nobody else can name them, and no later code sees its
 * headers.
 */
import t, { type Test } from 'tap'
import { requestHeaderAuthenticator } from '../../plugins/authentication/request-header.js'
import { codeOver, flagged, SERVER_FILES, type Flagged, type SentHeaders } from '../flagged-server.js'
import { authority } from '../serving/authority.js'

const proxies = authority('proxies')
const clients = authority('clients')
const proxy = proxies.issue({ commonName: 'front', uses: ['client'] })
const stranger = authority('strangers').issue({ commonName: 'front', uses: ['client'] })
const ann = clients.issue({ commonName: 'ann', organizations: ['dev'], uses: ['client'] })

const HEADERS = [
  '--requestheader-username-headers=X-Remote-User,X-Other-User',
  '--requestheader-group-headers=X-Remote-Group,X-Other-Group',
  '--requestheader-extra-headers-prefix=X-Remote-Extra-,X-More-'
]

interface Built extends Flagged { readonly headers: string[] }

async function serve (t: Test, ...flags: string[]): Promise<Built> {
  const folder = t.testdir({
    ...SERVER_FILES, 'proxies.crt': proxies.certificate, 'clients.crt': clients.certificate, tokens: 'abc,bob,1\n'
  })
  const headers: string[] = []
  const server = await flagged(t, folder, [
    `--requestheader-client-ca-file=${folder}/proxies.crt`, `--client-ca-file=${folder}/clients.crt`,
    `--token-auth-file=${folder}/tokens`, ...HEADERS, ...flags
  ], {}, scope => {
    scope.addHook('onRequest', (request, _reply, done) => {
      headers.push(JSON.stringify([request.headers, request.raw.rawHeaders]))
      done()
    })
  })
  return { ...server, headers }
}

const BOB: SentHeaders = { 'X-Remote-User': 'bob' }

t.test('a proxy names the user, each of his groups, and extra under keys that no header could hold', async t => {
  const { code, seen, session } = await serve(t)
  t.equal(
    await code(proxy, {
      'x-remote-user': 'bob',
      'X-REMOTE-GROUP': ['dev', 'a, b'],
      'X-Other-Group': 'ops',
      'X-Remote-Extra-Acme.com%2Fproject': ['p1', 'p2'],
      'X-More-%zz': 'kept',
      'X-Remote-Extra-': 'no key'
    }),
    200
  )
  t.same(seen[0], {
    username: 'bob',
    uid: '',
    groups: ['dev', 'a, b', 'ops', 'system:authenticated'],
    extra: { 'acme.com/project': ['p1', 'p2'], '%zz': ['kept'] }
  })
  t.equal(await code(proxy, { 'X-Other-User': 'eve' }), 200)
  t.equal(seen[0]?.username, 'eve', 'the second header counts where the first is not there')
  t.equal(await code(proxy, { 'X-Other-User': 'eve', 'X-Remote-User': 'bob', authorization: 'Bearer abc' }), 200)
  t.equal(seen[0]?.username, 'bob')
  seen.length = 0
  t.equal(await codeOver(session(proxy), { 'x-remote-user': 'bob', 'x-remote-group': ['dev', 'ops'] }), 200)
  t.same(seen[0]?.groups, ['dev', 'ops', 'system:authenticated'], 'over HTTP/2 too')
})

t.test('a proxy names the UID where the server is given a header for it', async t => {
  const { code, seen, headers } = await serve(t, '--requestheader-uid-headers=X-Remote-Uid,X-Other-Uid')
  t.equal(await code(proxy, { ...BOB, 'X-Remote-Uid': '7' }), 200)
  t.match(seen[0], { username: 'bob', uid: '7' })
  t.equal(await code(proxy, { ...BOB, 'X-Other-Uid': '8' }), 200)
  t.match(seen[0], { uid: '8' })
  t.equal(await code(proxy, { ...BOB, 'X-Remote-Uid': ['7', '8'] }), 401)
  t.equal(await code(ann, { ...BOB, x_remote_uid: '7' }), 200)
  t.match(seen[0], { username: 'ann', uid: '' })
  t.notMatch(headers.join(), /remote.uid/i)
})

t.test('the headers have no effect unless a trusted proxy sends them', async t => {
  const { code, seen } = await serve(t)
  t.equal(await code(undefined, BOB), 200)
  t.equal(seen[0]?.username, 'system:anonymous')
  t.equal(await code(ann, BOB), 200)
  t.equal(seen[0]?.username, 'ann')
  t.equal(await code(stranger, BOB), 401)
  t.equal(
    await code(proxies.issue({ commonName: 'front', uses: ['server'] }), BOB), 401,
    'a certificate that is not for clients'
  )
  t.equal(
    await code(proxies.issue({ commonName: 'front', uses: ['client'], from: new Date(0), until: new Date(1e12) }), BOB),
    401, 'nor an expired one'
  )
  t.equal(await code(proxy), 401, 'a proxy without user headers is not authenticated, as its CA is not a client CA')
  t.equal(await code(proxy, { authorization: 'Bearer abc' }), 200)
})

t.test('ambiguous or similar header names are refused or dropped', async t => {
  const { code, seen, headers } = await serve(t)
  t.equal(await code(proxy, { 'X-Remote-User': ['bob', 'root'] }), 401)
  t.equal(await code(proxy, { 'X-Remote-User': 'b\u00ff' }), 401, 'no UTF-8')
  t.equal(await code(proxy, { X_Remote_User: 'root' }), 401)
  t.equal(
    await code(proxy, { ...BOB, x_remote_group: 'system:masters', 'X-Remote_Extra-a': 'b', 'x-kept': 'kept' }), 200
  )
  t.same(seen[0], { username: 'bob', uid: '', groups: ['system:authenticated'], extra: {} })
  await code(undefined, { ...BOB, 'x-other-group': 'dev', x_more_key: 'value', 'x-kept': 'kept' })
  t.equal(headers.filter(one => one.includes('kept')).length, 2)
  for (const one of headers) t.notMatch(one, /remote|x.other|x.more/i)
})

t.test('--requestheader-allowed-names are the proxies there are', async t => {
  const { code } = await serve(t, '--requestheader-allowed-names=back,front')
  t.equal(await code(proxy, BOB), 200)
  t.equal(await code(proxies.issue({ commonName: 'other', uses: ['client'] }), BOB), 401)
  t.equal(await code(proxies.issue({ commonName: '', uses: ['client'] }), BOB), 401)
})

t.test('a CA that is that of clients too is warned of, unless proxies are named', async t => {
  const both = (...flags: string[]) => serve(t, ...flags)
  t.same((await both()).warnings, [])
  const folder = t.testdir({ ...SERVER_FILES, ca: proxies.certificate })
  const shared = [
    '--requestheader-username-headers=X-Remote-User', `--requestheader-client-ca-file=${folder}/ca`,
    `--client-ca-file=${folder}/ca`
  ]
  const server = await flagged(t, folder, shared)
  t.match(server.warnings, [/CA in common.*any user/])
  t.equal(await server.code(proxy), 200)
  t.equal(server.seen[0]?.username, 'front', 'without headers it is a client')
  t.equal(await server.code(proxy, BOB), 200)
  t.equal(server.seen[0]?.username, 'bob')
  t.same((await flagged(t, folder, [...shared, '--requestheader-allowed-names=front'])).warnings, [])
})

t.test('keys of extra are no properties of objects', async t => {
  const certificate = { verified: false, verifiedProxy: true, commonName: 'front', organizations: [] }
  const { authenticate } = requestHeaderAuthenticator({
    authorities: proxies.certificate, usernameHeaders: ['u'], extraHeaderPrefixes: ['e-']
  })
  const user = await authenticate({ headers: {}, rawHeaders: ['u', 'bob', 'e-__proto__', 'x'], certificate })
  t.same(Object.keys(user?.extra ?? {}), ['__proto__'])
  t.equal(({} as Record<string, unknown>)['x'], undefined)
})
