/** Runs each block of docs/embedding.md, and asks what it has started. */
import t from 'tap'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '../..')
const guide = readFileSync(join(root, 'docs/embedding.md'), 'utf8')
const blocks = new Map([...guide.matchAll(/```js (\w+)\n([^]*?)```/g)].map(([, name = '', text = '']) => [name, text]))

/** Where the package and those of the tests are found. */
const folder = mkdtempSync(join(import.meta.dirname, 'embedding-'))
t.teardown(() => { rmSync(folder, { recursive: true, force: true }) })

const ENV = {
  JWT_SECRET: 'of the host', SESSION_SECRET: 'a secret of at least thirty-two characters', ANN_TOKEN: 'of-ann'
}

/** Begins what is asked of a host that listens. */
const ASK = `
const origin = \`http://localhost:\${fastify.addresses()[0].port}\`
const ask = async (path, { body, headers, ...more } = {}) => {
  const type = body === undefined ? {} : { 'content-type': 'application/json' }
  return await fetch(origin + path, {
    ...more, headers: { connection: 'close', ...type, ...headers }, body: JSON.stringify(body)
  })
}
const codeOf = async (path, options) => (await ask(path, options)).status
const cookiesOf = answer => answer.headers.getSetCookie().map(cookie => cookie.split(';')[0]).join('; ')
const WHO = { method: 'POST', body: { kind: 'SelfSubjectReview', apiVersion: 'authentication.orch.io/v1' } }
`

/** What is asked of each block after it has run, and what it prints before and after. */
const ASKED: Record<string, { readonly then?: string, readonly prints: string }> = {
  jwt: {
    then: `
const as = claims => ({ headers: { authorization: \`Bearer \${fastify.jwt.sign(claims)}\` } })
console.log(
  await codeOf('/cluster/api'),
  await codeOf('/cluster/api', as({ sub: 'ann' })),
  await codeOf('/cluster/api', { headers: { authorization: 'Bearer x.y.z' } })
)
console.log(
  await codeOf('/cluster/api/v1/nodes', as({ sub: 'ann' })),
  await codeOf('/cluster/api/v1/nodes', as({ sub: 'ann', groups: ['system:masters'] }))
)`,
    prints: '401 200 401\n403 200\n'
  },
  session: {
    then: `
const sent = cookiesOf(await ask('/login', { method: 'POST', body: { username: 'ann' } }))
console.log(await codeOf('/cluster/api'), await codeOf('/cluster/api', { headers: { cookie: sent } }))
console.log((await (await ask('/cluster/api/v1/nodes', { headers: { cookie: sent } })).json()).message.slice(0, 42))`,
    prints: '401 200\nnodes is forbidden: User "ann" cannot list\n'
  },
  passport: {
    then: `
const sent = cookiesOf(await ask('/login', { method: 'POST', headers: { 'x-badge': 'ann' } }))
console.log(
  await codeOf('/cluster/api'),
  await codeOf('/cluster/api', { headers: { cookie: sent } }),
  await codeOf('/login', { method: 'POST' })
)
console.log((await (await ask('/cluster/api/v1/nodes', { headers: { cookie: sent } })).json()).message.slice(0, 42))`,
    prints: '401 200 401\nnodes is forbidden: User "ann" cannot list\n'
  },
  permissions: {
    then: `
const headers = { authorization: 'Bearer of-ann' }
const maps = '/cluster/api/v1/namespaces/default/configmaps'
console.log(await codeOf(maps), await codeOf(maps, { headers }), await codeOf('/cluster/api/v1/nodes', { headers }))
console.log(await codeOf(maps, { headers, method: 'POST', body: { metadata: { name: 'a' } } }))`,
    prints: '401 200 403\n201\n'
  },
  admission: { prints: 'host\n403 passwords belong into Secrets\n' },
  routes: {
    then: `
await fastify.orch.ready()
console.log(await codeOf('/teams/blue', { method: 'PUT' }), await codeOf('/teams/Not%20a%20name', { method: 'PUT' }))
await fastify.orch.client.of(appsV1.Deployment).create({
  metadata: { name: 'web', namespace: 'blue' },
  spec: {
    selector: { matchLabels: { a: 'b' } },
    template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } }
  }
})
console.log(await (await ask('/images')).json())
const denied = await ask('/teams/blue/colours', { headers: { 'x-user': 'ann' } })
console.log(denied.status, (await denied.json()).message.slice(0, 44))`,
    prints: '204 422\n[ \'i\' ]\n403 configmaps "colours" is forbidden: User "ann'
  },
  following: { prints: 'added colours 1\nADDED colours\nDELETED colours\n' },
  garbage: { prints: 'colours went with its team\n' },
  types: {
    prints:
      '3\nWidget.example.com "x" is invalid: spec.size: Invalid value: 0: ' +
      'spec.size in body should be greater than or equal to 1\n'
  },
  cors: {
    then: `
const headers = { origin: 'https://app.example.com' }
const preflight = await ask('/cluster/api', {
  method: 'OPTIONS', headers: { ...headers, 'access-control-request-method': 'PATCH' }
})
console.log(preflight.status, preflight.headers.get('access-control-allow-origin'))
const { status, headers: got } = await ask('/cluster/api', { headers })
const shown = ['access-control-allow-origin', 'x-frame-options', 'content-security-policy']
console.log(status, ...shown.map(name => got.get(name)))`,
    prints:
      "204 https://app.example.com\n401 https://app.example.com SAMEORIGIN default-src 'none';frame-ancestors 'none'\n"
  },
  several: { prints: 'false\n' },
  lifecycle: { prints: 'kept\n' }
}

t.same([...blocks.keys()], Object.keys(ASKED), 'every block is known here')

/** Runs all blocks, one after the other, in one process: loading the server is most of what each would take. */
const HOSTS = `
for (const name of ${JSON.stringify([...blocks.keys()])}) {
  await import(\`./\${name}.mjs\`)
  console.log('# end of', name)
}`

t.test('each block does what it says, admits nobody unasked, and leaves nothing that runs', async t => {
  for (const [name, text] of blocks) {
    const { then } = ASKED[name] ?? {}
    writeFileSync(
      join(folder, `${name}.mjs`),
      `${text.replace('port: 8080', 'port: 0')}${then === undefined ? '' : ASK + then}\n` +
      `${text.includes('close()') ? '' : 'await fastify.close()\n'}`
    )
  }
  const child = spawn(
    process.execPath, ['--input-type=module', '-e', HOSTS],
    { cwd: folder, env: { ...process.env, ...ENV, NODE_OPTIONS: '' }, stdio: ['ignore', 'pipe', 'pipe'] }
  )
  let [printed, failed] = ['', '']
  child.stdout.on('data', (chunk: Buffer) => { printed += chunk.toString() })
  child.stderr.on('data', (chunk: Buffer) => { failed += chunk.toString() })
  const [code] = await once(child, 'close') as [number | null]
  t.equal(code, 0, failed)
  const printedBy = new Map([
    ...printed.matchAll(/([^]*?)# end of (\w+)\n/g)
  ].map(([, text = '', name = '']) => [name, text]))
  for (const [name, { prints }] of Object.entries(ASKED)) {
    const text = printedBy.get(name) ?? ''
    t.notMatch(text, /everybody who reaches/, `${name} admits nobody unasked`)
    const lines = text.split('\n').filter(line => !line.startsWith('{')).join('\n') // without its log
    t.equal(lines.slice(0, prints.length), prints, name)
  }
})
