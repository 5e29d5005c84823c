/** What node agents may do where release 1.36 is emulated. */
import t from 'tap'
import { build, type Json } from '../build.js'

const TOKENS = ['root,root,1,"system:masters"', 'n1,system:node:n1,2,"system:nodes"', 'n2,system:node:n2,3,"system:nodes"']
const PODS = '/api/v1/namespaces/default/pods'

t.test('a node agent reads its own node and pods', async t => {
  for (const emulatedVersion of ['1.24', '1.36'] as const) {
    const server = await build(t, { emulatedVersion, authentication: { tokens: `${TOKENS.join('\n')}\n` }, authorization: { modes: ['Node', 'RBAC'] } })
    const as = async (token: string, method: string, url: string, body?: Json) => (await server.call(method, url, body, { authorization: `Bearer ${token}` })).code
    for (const name of ['n1', 'n2']) await as('root', 'POST', '/api/v1/nodes', { metadata: { name } })
    await as('root', 'POST', '/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'runner' } })
    t.equal(await as('root', 'POST', PODS, { metadata: { name: 'p' }, spec: { nodeName: 'n1', serviceAccountName: 'runner', containers: [{ name: 'c', image: 'i' }] } }), 201)
    const isLater = emulatedVersion === '1.36'
    const refused = isLater ? 403 : 200
    const expected: ReadonlyArray<readonly [token: string, method: string, url: string, code: number]> = [
      ['n1', 'GET', '/api/v1/nodes/n1', 200], ['n1', 'GET', '/api/v1/nodes?fieldSelector=metadata.name=n1', 200], ['n1', 'GET', '/api/v1/nodes/n2', refused], ['n1', 'GET', '/api/v1/nodes', refused],
      ['n1', 'GET', `${PODS}/p`, 200], ['n2', 'GET', `${PODS}/p`, refused], ['n1', 'GET', '/api/v1/pods?fieldSelector=spec.nodeName=n1', 200], ['n2', 'GET', '/api/v1/pods?fieldSelector=spec.nodeName=n1', refused],
      ['n1', 'GET', '/api/v1/pods?fieldSelector=spec.nodeName!=n1', refused], ['n1', 'GET', '/api/v1/pods', refused], ['n1', 'GET', `${PODS}?fieldSelector=spec.nodeName=n1,status.phase=Pending`, 200],
      ['n1', 'GET', '/api/v1/namespaces/default/serviceaccounts/runner', isLater ? 200 : 403], ['n2', 'GET', '/api/v1/namespaces/default/serviceaccounts/runner', 403]
    ]
    for (const [token, method, url, code] of expected) t.equal(await as(token, method, url), code, `${emulatedVersion} ${token} ${method} ${url}`)
  }
})
