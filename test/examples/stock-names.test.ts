import t from 'tap'
import { once } from 'node:events'
import { createServer, request, type IncomingMessage, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json, text } from 'node:stream/consumers'
import type { Test } from '../build.js'
import { encodeProtobuf, metaV1, rbacV1 } from '../../schemas/public.js'
import { renamePath, TO_OURS, TO_PUBLIC } from '../../examples/stock-names/names.js'
import { stockNames } from '../../examples/stock-names/proxy.js'
import { RenamedJson } from '../../examples/stock-names/renamed-json.js'

const STOCK = 'rbac.authorization.k8s.io'
const OURS = 'rbac.authorization.orch.io'

t.test('groups in paths', async t => {
  for (const [path, expected = path] of [
    [`/apis/${STOCK}/v1/roles?labelSelector=a`, `/apis/${OURS}/v1/roles?labelSelector=a`], [`/apis/${STOCK}`, `/apis/${OURS}`], [`/openapi/v3/apis/${STOCK}/v1`, `/openapi/v3/apis/${OURS}/v1`],
    ['/apis'], ['/apis/apps/v1'], ['/apis/metrics.k8s.io/v1beta1'], [`/api/v1/namespaces/${STOCK}`], [`/apis/apiregistration.k8s.io/v1/apiservices/v1.${STOCK}`, `/apis/apiregistration.orch.io/v1/apiservices/v1.${STOCK}`]
  ] as const) t.equal(renamePath(path, TO_OURS), expected)
})

/** In pieces of that many bytes. */
async function renamed (content: string, size: number, names = TO_OURS): Promise<string> {
  const stream = new RenamedJson(names)
  const bytes = Buffer.from(content)
  for (let at = 0; at < bytes.length; at += size) stream.write(bytes.subarray(at, at + size))
  return await text(stream.end())
}

t.test('groups in JSON, wherever it is cut', async t => {
  for (const [what, content, expected = content] of [
    ['an object', `{"apiVersion":"${STOCK}/v1","metadata":{"name":"a"},"roleRef":{"apiGroup":"${STOCK}"}}`, `{"apiVersion":"${OURS}/v1","metadata":{"name":"a"},"roleRef":{"apiGroup":"${OURS}"}}`],
    ['lists of groups', `{"rules":[{"apiGroups":["", "${STOCK}","*"],"resources":["roles"]}]}`, `{"rules":[{"apiGroups":["", "${OURS}","*"],"resources":["roles"]}]}`],
    ['two events', `{"type":"ADDED","object":{"apiVersion":"${STOCK}/v1"}}\n{"object":{"apiVersion":"${STOCK}/v1"}}\n`, `{"type":"ADDED","object":{"apiVersion":"${OURS}/v1"}}\n{"object":{"apiVersion":"${OURS}/v1"}}\n`],
    ['discovery', `{"groups":[{"name":"${STOCK}","versions":[{"groupVersion":"${STOCK}/v1"}]}]}`, `{"groups":[{"name":"${OURS}","versions":[{"groupVersion":"${OURS}/v1"}]}]}`],
    ['a group by itself', `{"kind":"APIGroup","name":"${STOCK}"}`, `{"kind":"APIGroup","name":"${OURS}"}`],
    ['OpenAPI', `{"paths":{"apis/${STOCK}/v1":{},"/apis/${STOCK}/v1/roles":{}}}`, `{"paths":{"apis/${OURS}/v1":{},"/apis/${OURS}/v1/roles":{}}}`],
    ['other groups', '{"apiVersion":"meta.k8s.io/v1","apiGroup":"metrics.k8s.io"}'],
    ['other members', `{"metadata":{"name":"${STOCK}"},"message":"${STOCK}","list":["${STOCK}"]}`],
    ['what users made up', `{"metadata":{"labels":{"group":"${STOCK}"},"annotations":{"apiVersion":"${STOCK}"}},"data":{"group":"${STOCK}"}}`],
    ['JSON in JSON', `{"metadata":{"annotations":{"x":${JSON.stringify(JSON.stringify({ apiVersion: `${STOCK}/v1` }))}}}}`],
    ['other characters, numbers and long texts', `{"a":"né\\"€😀\\\\","b":123456789012345678901,"${'c'.repeat(300)}":"${'d'.repeat(300)}","group":"${'e'.repeat(300)}${STOCK}"}`],
    ['what is no JSON', `{"apiGroup":"${STOCK}`],
    ['nothing', '']
  ] as const) for (const size of [1, 7, 1000]) t.equal(await renamed(content, size), expected, `${what}, ${size}`)
  t.equal(await renamed(`{"group":"${OURS}"}`, 1000, TO_PUBLIC), `{"group":"${STOCK}"}`, 'and back')
  await t.rejects(renamed('['.repeat(2000), 1000), /more than 1000/)
})

async function listening (t: Test, listener: RequestListener): Promise<URL> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  t.teardown(() => { server.closeAllConnections(); server.close() })
  await once(server, 'listening')
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`) // it listens on TCP
}

async function ask (url: URL, method = 'GET', headers: Record<string, string | string[]> = {}, body?: string | Buffer): Promise<IncomingMessage> {
  const [answer] = await once(request(url, { method, headers: { ...headers, ...(body === undefined ? {} : { 'content-length': String(body.length) }) }, agent: false }).end(body), 'response') as [IncomingMessage]
  return answer
}

t.test('what is asked and answered is passed through, but for names', async t => {
  const server = await listening(t, (asked, answer) => {
    void text(asked).then(body => {
      const { method, url, headersDistinct: { authorization, accept, 'impersonate-group': groups } } = asked
      answer.writeHead(409, { 'content-type': 'application/json', warning: '299 - "old"', 'audit-id': '1' }).end(JSON.stringify({ method, url, authorization, accept, groups, body, apiGroup: OURS }))
    })
  })
  const proxy = await listening(t, stockNames(new URL('/below/', server)))
  const answer = await ask(new URL(`/apis/${STOCK}/v1/roles?a=b`, proxy), 'DELETE', {
    authorization: 'Bearer x', 'content-type': 'application/json', 'impersonate-group': ['a', 'b'], accept: 'application/vnd.kubernetes.protobuf, application/json;as=Table;g=meta.k8s.io;v=v1, application/json'
  }, `{"apiVersion":"${STOCK}/v1"}`)
  t.match(answer, { statusCode: 409, headers: { warning: '299 - "old"', 'audit-id': '1' } })
  t.same(await json(answer), {
    method: 'DELETE', url: `/below/apis/${OURS}/v1/roles?a=b`, authorization: ['Bearer x'], groups: ['a', 'b'], accept: ['application/json;as=Table;g=meta.k8s.io;v=v1,application/json'], body: `{"apiVersion":"${OURS}/v1"}`, apiGroup: STOCK
  })
  t.match(await json(await ask(new URL(`${proxy.origin}//elsewhere.example/`))), { url: '/below//elsewhere.example/' }, 'a path is never another host')
  const typed = async (type: string): Promise<number | undefined> => (await ask(proxy, 'POST', { 'content-type': type }, '{}')).statusCode
  for (const [type, code] of [['application/vnd.kubernetes.protobuf', 400], ['application/yaml', 415], ['application/strategic-merge-patch+json', 409], ['application/apply-patch+yaml', 409]] as const) t.equal(await typed(type), code, type)
  t.equal((await ask(proxy, 'POST', { 'content-type': 'application/json' }, '['.repeat(5000))).statusCode, 400)
})

t.test('objects that are sent in protobuf are sent on in JSON', async t => {
  const server = await listening(t, (asked, answer) => { asked.pipe(answer.writeHead(200, { 'content-type': 'text/plain', 'x-type': asked.headers['content-type'] })) })
  const proxy = await listening(t, stockNames(server))
  const send = async (body: Buffer): Promise<IncomingMessage> => await ask(proxy, 'POST', { 'content-type': 'application/vnd.kubernetes.protobuf' }, body)
  const roleRef = { apiGroup: STOCK, kind: 'Role', name: 'b' }
  const answer = await send(encodeProtobuf(rbacV1.RoleBinding, { kind: 'RoleBinding', apiVersion: `${STOCK}/v1`, metadata: { name: 'a' }, roleRef }))
  t.equal(answer.headers['x-type'], 'application/json')
  t.match(await json(answer), { kind: 'RoleBinding', apiVersion: `${OURS}/v1`, metadata: { name: 'a' }, roleRef: { ...roleRef, apiGroup: OURS } })
  const options = await send(encodeProtobuf(metaV1.DeleteOptions, { kind: 'DeleteOptions', apiVersion: `${STOCK}/v1`, gracePeriodSeconds: 3 }))
  t.match(await json(options), { apiVersion: `${OURS}/v1`, gracePeriodSeconds: 3 }, 'options of any version')
  for (const [body, message] of [
    [encodeProtobuf(metaV1.DeleteOptions, { kind: 'Thing', apiVersion: 'example.com/v1' }), /Thing of example.com\/v1 is not known/], [Buffer.from('{}'), /does not begin with/], [Buffer.alloc(4 << 20), /more than 3145728 bytes/]
  ] as const) t.match(await json(await send(body)), { code: 400, message })
})

t.test('a watch is answered event by event, and ends at the server when its client leaves', async t => {
  const left = new Promise<void>(resolve => {
    void listening(t, (_asked, answer) => {
      answer.writeHead(200, { 'content-type': 'application/json' }).write(`{"object":{"apiVersion":"${OURS}/v1"}}\n`)
      answer.on('close', resolve)
    }).then(async server => {
      const answer = await ask(new URL(`/apis/${STOCK}/v1/roles?watch=1`, await listening(t, stockNames(server))))
      const [event] = await once(answer, 'data') as [Buffer]
      t.equal(event.toString(), `{"object":{"apiVersion":"${STOCK}/v1"}}\n`)
      answer.destroy()
    })
  })
  await left
})

t.test('no server, and one that ends within an answer', async t => {
  const gone = await ask(await listening(t, stockNames(new URL('http://127.0.0.1:1'))), 'POST', { 'content-type': 'application/json' }, '{}')
  t.equal(gone.statusCode, 502)
  t.match(await json(gone), { kind: 'Status', message: /cannot be reached/ })
  const cutting = await listening(t, (_asked, answer) => { answer.writeHead(200, { 'content-type': 'application/json' }).write('{', () => { answer.destroy() }) })
  await t.rejects(text(await ask(await listening(t, stockNames(cutting)))), 'an answer that is cut is never taken for a whole one')
})
