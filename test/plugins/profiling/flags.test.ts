/** `/debug/flags/`: the verbosity of a running server. */
import t from 'tap'
import { build } from '../../build.js'

t.test('a number is the verbosity from now on', async t => {
  const levels: number[] = []
  const server = await build(t, { profiling: { setVerbosity: v => { levels.push(v) } } })
  t.match(await server.call('PUT', '/debug/flags/v', '5', { 'content-type': 'application/x-www-form-urlencoded' }), {
    code: 200, body: 'successfully set klog.logging.verbosity to 5\n',
    headers: { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' }
  }, 'as curl -d sends it')
  t.match(
    await server.call('PUT', '/debug/flags/v', '10\n'),
    { code: 200, body: 'successfully set klog.logging.verbosity to 10\n' }, 'as a pipe ends'
  )
  t.equal((await server.call('PUT', '/debug/flags/v', '0')).code, 200)
  t.strictSame(levels, [5, 10, 0])
  for (const bad of ['', 'x', '-1', '11', '1.5', '1e1', '0x1', '5 6', '"5"', '9'.repeat(1000)]) {
    const { code, json } = await server.call('PUT', '/debug/flags/v', bad)
    t.match(
      { code, json },
      {
        code: 400,
        json: {
          kind: 'Status',
          reason: 'BadRequest',
          message: /^failed to set klog\.logging\.verbosity ".*": must be a whole number from 0 to 10$/
        }
      },
      bad.slice(0, 10)
    )
  }
  t.match(await server.call('PUT', '/debug/flags/v'), { code: 400 }, 'no body')
  t.strictSame(levels, [5, 10, 0])
})

t.test('the flags are listed, and no others exist', async t => {
  const server = await build(t, { profiling: { setVerbosity: () => {} } })
  for (const path of ['/debug/flags', '/debug/flags/']) {
    t.match(await server.get(path), { code: 200, body: /^v +verbosity/m })
  }
  for (const method of ['GET', 'POST', 'DELETE']) {
    t.match(await server.call(method, '/debug/flags/v'), { code: 405 }, method)
  }
  t.match(await server.call('PUT', '/debug/flags/vmodule', 'a=1'), { code: 404 })
})

t.test('it is authorized like any path, and a host has to enable it', async t => {
  const server = await build(t, {
    profiling: { setVerbosity: () => { t.fail('the level was changed') } },
    authorization: { modes: ['RBAC'] },
    authentication: { tokens: 'ann,ann,1\n' }
  })
  t.match(await server.call('PUT', '/debug/flags/v', '5', { authorization: 'Bearer ann' }), {
    code: 403, json: { message: /cannot put path "\/debug\/flags\/v"/ }
  })
  t.equal((await server.get('/debug/flags', { authorization: 'Bearer ann' })).code, 403)
  for (const options of [{}, { profiling: {} }]) {
    t.equal((await (await build(t, options)).call('PUT', '/debug/flags/v', '5')).code, 404)
  }
})
