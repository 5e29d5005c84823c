import t from 'tap'
import { build, type Json, type Client } from '../build.js'
import { authority } from '../serving/authority.js'

const CORE = '/api/v1/namespaces/default'
const SECRETS = `${CORE}/secrets`
const ACCOUNTS = `${CORE}/serviceaccounts`
const CA = authority('servers').certificate

const tokenSecret = (name: string, more: Json = {}): Json => ({
  metadata: { name, annotations: { 'orch.io/service-account.name': 'robot', ...more['annotations'] } },
  type: 'orch.io/service-account-token', ...more['rest']
})
const text = (secret: Json, key: string): string => Buffer.from(secret['data']?.[key] ?? '', 'base64').toString()

async function serve (
  t: Parameters<typeof build>[0], options: Parameters<typeof build>[1] = {}
): Promise<Client & {
  uid: string
  until: (name: string, done: (secret: Json, code: number) => boolean) => Promise<Json>
  as: (token: string) => Promise<string | number>
}> {
  let seen = ''
  const server = await build(t, {
    authentication: { serviceAccounts: { certificateAuthority: CA } },
    authorization: {
      authorizers: [{ name: 'spy', authorize: ({ user }) => { seen = user.username; return { decision: 'Allow' } } }]
    },
    ...options
  })
  const { json } = await server.post(ACCOUNTS, { metadata: { name: 'robot' } })
  return {
    ...server,
    uid: json.metadata.uid,
    until: async (name, done) => {
      for (;;) {
        const { json, code } = await server.get(`${SECRETS}/${name}`)
        if (done(json, code)) return json
        await new Promise(resolve => { setImmediate(resolve) })
      }
    },
    as: async token => {
      const { code } = await server.get(SECRETS, { authorization: `Bearer ${token}` })
      return code === 200 ? seen : code
    }
  }
}

const filled = (secret: Json): boolean => secret['data']?.token !== undefined

t.test('a Secret that names an account gets a token of it, which is good as long as the Secret keeps it', async t => {
  const server = await serve(t)
  await server.post(SECRETS, tokenSecret('s', { rest: { stringData: { more: 'kept' } } }))
  const secret = await server.until('s', filled)
  t.equal(secret['metadata'].annotations['orch.io/service-account.uid'], server.uid)
  t.same([text(secret, 'namespace'), text(secret, 'ca.crt'), text(secret, 'more')], ['default', CA, 'kept'])
  const token = text(secret, 'token')
  const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as Json
  t.same(claims, {
    iss: 'orch/serviceaccount',
    sub: 'system:serviceaccount:default:robot',
    'orch.io/serviceaccount/namespace': 'default',
    'orch.io/serviceaccount/secret.name': 's',
    'orch.io/serviceaccount/service-account.name': 'robot',
    'orch.io/serviceaccount/service-account.uid': server.uid
  })
  t.equal(await server.as(token), 'system:serviceaccount:default:robot')
  const { token: asked } = (await server.post(`${ACCOUNTS}/robot/token`, {})).json['status']
  await server.patch(`${SECRETS}/s`, { data: { token: Buffer.from(asked).toString('base64') } })
  t.equal(await server.as(token), 401, 'the Secret keeps another one')
  await server.patch(`${SECRETS}/s`, { data: { token: null } })
  const anew = await server.until('s', filled)
  t.equal(
    await server.as(text(anew, 'token')), 'system:serviceaccount:default:robot', 'one that was taken out is made again'
  )
  await server.delete(`${SECRETS}/s`)
  t.equal(await server.as(text(anew, 'token')), 401)
})

t.test('the Secrets of an account go with it, those of others stay', async t => {
  const server = await serve(t)
  await server.post(ACCOUNTS, { metadata: { name: 'other' } })
  await server.post(SECRETS, tokenSecret('s'))
  await server.post(SECRETS, tokenSecret('others', { annotations: { 'orch.io/service-account.name': 'other' } }))
  await server.post(SECRETS, { metadata: { name: 'opaque', annotations: { 'orch.io/service-account.name': 'robot' } } })
  const token = text(await server.until('s', filled), 'token')
  await server.until('others', filled)
  await server.delete(`${ACCOUNTS}/robot`)
  t.equal(await server.as(token), 401)
  await server.until('s', (_secret, code) => code === 404)
  t.equal((await server.get(`${SECRETS}/others`)).code, 200)
  t.equal((await server.get(`${SECRETS}/opaque`)).code, 200)
})

t.test('a token Secret whose account is missing or has another uid is deleted', async t => {
  const server = await serve(t)
  await server.post(SECRETS, tokenSecret('nobodys', { annotations: { 'orch.io/service-account.name': 'nobody' } }))
  await server.post(SECRETS, tokenSecret('formers', { annotations: { 'orch.io/service-account.uid': 'another' } }))
  for (const name of ['nobodys', 'formers']) await server.until(name, (_secret, code) => code === 404)
  t.pass()
})

t.test('data that others have filled in is left unchanged', async t => {
  const server = await serve(t)
  const data = { token: 'eA==', namespace: 'eQ==', 'ca.crt': 'eg==' }
  await server.post(SECRETS, tokenSecret('theirs', { rest: { data } }))
  await server.post(SECRETS, tokenSecret('part', { rest: { data: { 'ca.crt': 'eg==' } } }))
  await server.post(SECRETS, tokenSecret('fixed', { rest: { immutable: true } }))
  t.equal(text(await server.until('part', filled), 'ca.crt'), 'z')
  await server.post(SECRETS, tokenSecret('last'))
  await server.until('last', filled)
  t.same((await server.get(`${SECRETS}/theirs`)).json['data'], data)
  t.equal(
    (await server.get(`${SECRETS}/fixed`)).json['data'], undefined,
    'and nothing else waits for one that can\'t be changed'
  )
})

t.test('without --service-account-lookup such a token outlives its Secret and account, but no other does', async t => {
  const server = await serve(t, { authentication: { serviceAccounts: { lookup: false } } })
  await server.post(SECRETS, tokenSecret('s'))
  const kept = text(await server.until('s', filled), 'token')
  const { token: asked } = (await server.post(`${ACCOUNTS}/robot/token`, {})).json['status']
  await server.delete(`${ACCOUNTS}/robot`)
  await server.until('s', (_secret, code) => code === 404)
  t.equal(await server.as(kept), 'system:serviceaccount:default:robot')
  t.equal(await server.as(asked), 401)
})

t.test('the same holds without a watch cache', async t => {
  const server = await serve(t, { watchCache: { size: 0 } })
  await server.post(SECRETS, tokenSecret('s'))
  const token = text(await server.until('s', filled), 'token')
  t.equal((await server.get(SECRETS, { authorization: `Bearer ${token}` })).code, 200)
  await server.delete(`${ACCOUNTS}/robot`)
  await server.until('s', (_secret, code) => code === 404)
  t.equal(await server.as(token), 401)
})
