import t from 'tap'
import { BINDINGS, binding, build } from '../build.js'

t.test('a dry run is refused where a plugin would do something outside of the object, and only there', async t => {
  const done: string[] = []
  const server = await build(t, {
    admission: [{
      name: 'caller',
      sideEffects: true,
      handles: ({ name }) => name === 'called',
      mutate: ({ operation }) => { done.push(operation) }
    }]
  })
  t.match(await server.post(`${BINDINGS}?dryRun=All`, binding('called')), { code: 400, json: { reason: 'BadRequest', message: /"caller" has side effects/ } })
  t.strictSame(done, [])
  t.equal((await server.post(`${BINDINGS}?dryRun=All`, binding('other'))).code, 201)
  t.equal((await server.post(BINDINGS, binding('called'))).code, 201)
  t.strictSame(done, ['CREATE'])
})
