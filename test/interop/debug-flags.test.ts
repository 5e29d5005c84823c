/** An operator makes a running server log its requests, and then stop again. */
import t from 'tap'
import { Kubectl, programs } from './kubectl.js'
import { ServerHere, until } from './server.js'

const lines = ({ log }: ServerHere, path: string): string[] =>
  log.split('\n').filter(line => line.includes(` request method=GET url=${path} `))

for (const program of programs()) {
  t.test(`kubectl ${program.version} makes the log say more, and less`, async t => {
    const server = await ServerHere.start(t)
    const kubectl = new Kubectl(t, program, server.tokenConfig())
    const set = async (v: string): Promise<string> =>
      await kubectl.ok('replace', '--raw=/debug/flags/v', `--filename=${kubectl.file('v', v)}`)
    t.match(await kubectl.ok('get', '--raw=/debug/flags'), /^v +verbosity of the log/m)
    await server.ask('/version?0')
    t.equal(await set('8\n'), 'successfully set klog.logging.verbosity to 8')
    t.match(server.log, /INFO {2}log verbosity is now 8 user=ann\n/)
    await server.ask('/version?8')
    await until('a line', () => lines(server, '/version?8').length === 1)
    t.match(lines(server, '/version?8'), [/ status=200 .*requestHeaders=".*authorization: Bearer…/])
    await set('9')
    await server.ask('/api/v1/namespaces/default')
    await until('a line with an object', () =>
      /url=\/api\/v1\/namespaces\/default .*responseObject="\{/.test(server.log))
    t.match(
      await kubectl.refused('replace', '--raw=/debug/flags/v', `--filename=${kubectl.file('v', 'much')}`),
      /must be a whole number from 0 to 10/
    )
    await set('0')
    await server.ask('/version?0')
    await server.ask('/version?0')
    t.equal(await server.stop(), 0)
    t.strictSame(lines(server, '/version?0'), [])
  })
}

t.test('a level set by --vmodule stays, and without profiling the level cannot be changed', async t => {
  const put = async (server: ServerHere, v: number): Promise<number> => (await server.ask(
    '/debug/flags/v', 'PUT', v as unknown as object
  )).code // in JSON it is the number
  const server = await ServerHere.start(t, ['--vmodule=request-log=3'])
  t.equal(await put(server, 0), 200)
  await server.ask('/version')
  await until('a line', () => lines(server, '/version').length === 1)
  t.equal(await put(server, 4), 200)
  const fixed = await ServerHere.start(t, ['--profiling=false', '-v=3'])
  t.equal(await put(fixed, 0), 404)
  await fixed.ask('/version')
  await until('a line', () => lines(fixed, '/version').length === 1)
})
