/** What a browser shows in place of the front page. */
import t from 'tap'
import { build } from '../build.js'

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
const USERS = 'ann,<b>ann</b>,1\n'

t.test('a page says how to get in, and loads nothing', async t => {
  const server = await build(t, {
    authorization: { modes: ['RBAC'] }, authentication: { anonymous: 'health', tokens: USERS }
  })
  for (const [path, more, code, heading] of [
    ['/', {}, 401, 'Who are you?'], ['/', { authorization: 'Bearer ann' }, 403, 'You may not see this']
  ] as const) {
    const { headers, body, code: answered } = await server.get(path, { accept: BROWSER, ...more })
    t.equal(answered, code, path)
    t.match(
      headers,
      {
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': /^default-src 'none'/,
        'x-content-type-options': 'nosniff'
      },
      path
    )
    t.match(body, `<h1>${heading}</h1>`, path)
    t.match(body, 'kubectl proxy')
    t.notMatch(body, /<b>ann|<script/)
    const head = await server.call('HEAD', path, undefined, { accept: BROWSER, ...more })
    t.match([head.code, head.headers['content-type']], [code, headers['content-type']], 'HEAD is told the same')
  }
})

t.test('programs get a Status, and so do browsers for other paths', async t => {
  const server = await build(t, {
    authorization: { modes: ['RBAC'] }, authentication: { anonymous: 'health', tokens: 'root,root,1,system:masters\n' }
  })
  for (const accept of [
    'application/json', '*/*', 'application/json, text/html', 'application/json, text/html;q=0.9', 'text/html;q=0, */*',
    undefined
  ]) {
    t.match(
      await server.get('/', accept === undefined ? {} : { accept }),
      { code: 401, json: { kind: 'Status', reason: 'Unauthorized' } }, accept ?? 'none'
    )
  }
  t.match(await server.get('/api/v1/nodes', { accept: BROWSER }), { code: 401, json: { kind: 'Status' } })
  t.match(
    await server.get('/api/v1/namespaces/nowhere', { accept: BROWSER, authorization: 'Bearer root' }),
    { code: 404, json: { kind: 'Status', reason: 'NotFound' } }
  )
})

t.test('a 403 for a group of Kubernetes says under which name it is served', async t => {
  const server = await build(t, { authorization: { modes: ['RBAC'] }, authentication: { tokens: USERS } })
  t.match((await server.get('/apis/apps.k8s.io/v1/deployments', { authorization: 'Bearer ann' })).json, {
    code: 403, message: /in API group "apps\.k8s\.io" at the cluster scope$/
  })
  t.match((await server.get('/apis/networking.k8s.io/v1/ingresses', { authorization: 'Bearer ann' })).json, {
    code: 403,
    message:
      /in API group "networking\.k8s\.io" at the cluster scope; the API group networking\.k8s\.io is named networking\.orch\.io here; start the server with --compat-names/
  })
})
