import t from 'tap'
import type { FastifyInstance } from 'fastify'
import Fastify from '../../fastify.js'
import { server as orch, type Authenticator, type Authorizer, type ServerOptions } from '../../../app.js'
import { runParts } from '../../../plugins/shared/lifecycle.js'
import { tokenCredentials } from '../../../auth/authenticator.js'
import { parseRequest } from '../../request-info.js'
import { loadedServer, type Whole } from '../../../plugins/shared/plugin.js'

type Test = Pick<typeof t, 'teardown'>

/** The interface that the server offers to its own parts. */
async function offered (t: Test, options: ServerOptions): Promise<{ server: Whole, close: () => Promise<void> }> {
  const app = Fastify({ logger: false })
  t.teardown(() => app.close())
  let server: FastifyInstance | undefined
  await app.register(async scope => {
    await orch(scope, options)
    server = scope
  })
  await app.ready()
  return { server: loadedServer(server), close: () => app.close() }
}

const UNAUTHORIZED = { name: 'StatusError', message: 'Unauthorized' }
const BOB = { username: 'bob', uid: '7', groups: ['dev'], extra: {} }
const list = (username: string) => ({
  user: { ...BOB, username }, info: parseRequest('GET', '/api/v1/namespaces/x/secrets')
})

t.test('token reviews use the authenticators of the server', async t => {
  const late: Authenticator = {
    name: 'late', authenticate: async ({ headers }) => headers.authorization === 'Bearer late' ? BOB : undefined
  }
  const strict: Authenticator = {
    name: 'strict',
    authenticate: ({ headers }) => {
      if (headers.authorization === 'Bearer bad') throw new Error('secret detail')
      return undefined
    }
  }
  const { server: { orchAuthentication: { authenticator } } } = await offered(t, {
    authentication: { tokens: 'good,ann,1,"ops"\n', authenticators: [strict] }
  })
  t.same(
    authenticator.authenticate(tokenCredentials('good')),
    { username: 'ann', uid: '1', groups: ['ops', 'system:authenticated'], extra: {} }, 'at once, and as requests see it'
  )
  t.equal(
    authenticator.authenticate(tokenCredentials('nobody')), undefined,
    'an unknown token authenticates nobody, not even as anonymous'
  )
  t.throws(() => authenticator.authenticate(tokenCredentials('bad')), UNAUTHORIZED)
  const { server: slow } = await offered(t, { authentication: { authenticators: [late, strict] } })
  t.match(await slow.orchAuthentication.authenticator.authenticate(tokenCredentials('late')), {
    username: 'bob', groups: ['dev', 'system:authenticated']
  })
  await t.rejects(
    async () => await slow.orchAuthentication.authenticator.authenticate(tokenCredentials('bad')), UNAUTHORIZED
  )
})

t.test('access reviews use the authorizers of the server', async t => {
  const rules: Authorizer = {
    name: 'rules',
    authorize: ({ user, info }) => user.username === 'ann'
      ? { decision: 'Allow', reason: `${info.verb} is hers` }
      : user.username === 'eve' ? { decision: 'Deny' } : { decision: 'NoOpinion', reason: 'no rule' }
  }
  const { server: { orchAuthorization: { authorizer } } } = await offered(t, {
    authorization: { modes: ['AlwaysDeny'], authorizers: [rules] }
  })
  t.same(authorizer.authorize(list('ann')), { decision: 'Allow', reason: 'list is hers' }, 'at once')
  t.same(authorizer.authorize(list('eve')), { decision: 'Deny' })
  t.same(authorizer.authorize(list('bob')), { decision: 'NoOpinion', reason: 'no rule\nEverything is forbidden.' })
})

t.test('a review reports what the authorizers could not look up', async t => {
  const failure = new Error('no answer')
  const unsure = (decision: 'NoOpinion' | 'Allow'): Authorizer => ({
    name: 'unsure', authorize: () => ({ decision, reason: 'unsure', evaluationError: failure })
  })
  const broken: Authorizer = { name: 'broken', authorize: () => { throw failure } }
  const rejects: Authorizer = { name: 'rejects', authorize: async () => { throw failure } }
  const ask = async (...authorizers: Authorizer[]) => await (await offered(t, {
    authorization: { modes: ['AlwaysDeny'], authorizers }
  })).server.orchAuthorization.authorizer.authorize(list('ann'))
  t.same(await ask(unsure('NoOpinion')), {
    decision: 'NoOpinion', reason: 'unsure\nEverything is forbidden.', evaluationError: failure
  })
  t.same(await ask(unsure('Allow')), { decision: 'Allow', reason: 'unsure', evaluationError: failure })
  const allows: Authorizer = { name: 'allows', authorize: () => ({ decision: 'Allow' }) }
  t.same(await ask(unsure('NoOpinion'), allows), { decision: 'Allow' }, 'later authorizers still decide')
  for (const one of [broken, rejects]) {
    t.same(
      await ask(one, allows), { decision: 'NoOpinion', reason: '', evaluationError: failure },
      'after an exception later ones do not, because it might have denied'
    )
  }
})

t.test('a failed authorization is a server error unless another authorizer allows the request', async t => {
  const unsure: Authorizer = {
    name: 'unsure', authorize: () => ({ decision: 'NoOpinion', evaluationError: new Error('secret detail') })
  }
  const code = async (options: ServerOptions): Promise<number> => {
    const app = Fastify({ logger: false })
    t.teardown(() => app.close())
    await app.register(orch, options)
    const answer = await app.inject('/version')
    t.notOk(answer.body.includes('secret detail'))
    return answer.statusCode
  }
  t.equal(await code({ authorization: { authorizers: [unsure], modes: ['AlwaysDeny'] } }), 500)
  t.equal(await code({ authorization: { authorizers: [unsure] } }), 200)
})

t.test('parts start in order before requests are served, and close with the server in reverse', async t => {
  const seen: string[] = []
  const part = (name: string) => ({
    name,
    start: async () => { await new Promise(resolve => { setImmediate(resolve) }); seen.push(`start ${name}`) },
    close: () => { seen.push(`close ${name}`) }
  })
  const authenticators: Authenticator[] = ['a', 'b'].map(name => ({ ...part(name), authenticate: () => undefined }))
  const authorizers: Authorizer[] = [{ ...part('c'), authorize: () => ({ decision: 'Allow' }) }]
  const { close } = await offered(t, { authentication: { authenticators }, authorization: { authorizers } })
  t.same(seen.splice(0), ['start a', 'start b', 'start c'])
  await close()
  t.same(seen.sort(), ['close a', 'close b', 'close c'])
})

t.test('a start that fails ends the boot with its name, and only what has started is closed', async t => {
  const seen: string[] = []
  const authenticators: Authenticator[] = [
    { name: 'first', authenticate: () => undefined, start: async () => {}, close: () => { seen.push('first') } },
    {
      name: 'oidc',
      authenticate: () => undefined,
      start: async () => { throw new Error('no keys', { cause: new Error('no such file') }) },
      close: () => { seen.push('oidc') }
    },
    { name: 'last', authenticate: () => undefined, close: () => { seen.push('last') } }
  ]
  const app = Fastify({ logger: false })
  await app.register(orch, { authentication: { authenticators } })
  await t.rejects(
    async () => { await app.ready() }, { message: 'authenticator oidc cannot start: no keys: no such file' }
  )
  await app.close()
  t.same(seen, ['first'])
  const other = Fastify({ logger: false })
  t.teardown(() => other.close())
  await other.register(orch, {
    authorization: {
      authorizers: [
        { name: 'rules', authorize: () => ({ decision: 'Allow' }), start: async () => { throw new Error('no') } }
      ]
    }
  })
  await t.rejects(async () => { await other.ready() }, { message: 'authorizer rules cannot start: no' })
})

t.test('a start that never ends is named too, and one that cannot be closed keeps no other open', async t => {
  const app = Fastify({ logger: false, pluginTimeout: 100 })
  runParts(app, 'authorizer', [{ name: 'stuck', start: () => new Promise(() => {}) }])
  const alive = setInterval(() => {}, 1000)
  t.teardown(() => { clearInterval(alive) })
  await t.rejects(async () => { await app.ready() }, { message: 'authorizer stuck cannot start: it took too long' })
  const closed: string[] = []
  const other = Fastify({ logger: false })
  runParts(other, 'authorizer', [
    { name: 'one', close: () => { closed.push('one') } }, { name: 'two', close: async () => { throw new Error('no') } }
  ])
  await other.ready()
  await other.close()
  t.same(closed, ['one'])
})
