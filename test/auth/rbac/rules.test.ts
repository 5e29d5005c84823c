import t from 'tap'
import { distinctRules, ruleAllows, uncovered, type Rule } from '../../../auth/rbac/rules.js'

const urls = (...nonResourceURLs: string[]): Rule => ({ verbs: ['get'], nonResourceURLs })
const resources = (...resources: string[]): Rule => ({ verbs: ['get'], apiGroups: [''], resources })
const covered = (owned: Rule, wanted: Rule): boolean => uncovered([owned], [wanted]).length === 0

t.test('trailing stars of a path match any rest; other stars are literal', async t => {
  for (const [pattern, path, allowed] of [
    ['*', '/api', true], ['/*', '', false], ['/*', '/foo', true], ['/api', '/api/v1', false],
    ['/api/*', '/api/v1', true], ['/api/*', '/api', false], ['/api**', '/apis', true],
    ['/api/*/*', '/api/v1', false], ['/*/v1/*', '/api/v1', false]
  ] as const) {
    t.equal(
      ruleAllows(urls(pattern), {
        path,
        isResourceRequest: false,
        verb: 'get',
        group: '',
        version: '',
        resource: '',
        subresource: '',
        namespace: '',
        name: ''
      }),
      allowed,
      `${pattern} ${path}`
    )
    t.equal(covered(urls(pattern), urls(path)), allowed, `granting ${path} by ${pattern}`)
  }
})

t.test('a rule\'s resource ends at its first slash', async t => {
  t.ok(covered(resources('*/scale'), resources('foo/scale')))
  t.ok(covered(resources('*/a/b'), resources('foo/a/b')))
  t.notOk(covered(resources('pods/log'), resources('pods/log/more')))
  t.notOk(covered(resources('*/scale'), resources('*')))
})

t.test('a name allows requests for it alone, the empty one those without a name', async t => {
  const rule = (...resourceNames: string[]): Rule => ({ ...resources('pods'), resourceNames })
  for (const [names, name, allowed] of [
    [['a'], 'a', true], [['a'], 'b', false], [['a'], '', false], [['a', ''], '', true], [[''], 'a', false],
    [[], '', true]
  ] as const) {
    t.equal(
      ruleAllows(rule(...names), {
        path: '',
        isResourceRequest: true,
        verb: 'get',
        group: '',
        version: 'v1',
        resource: 'pods',
        subresource: '',
        namespace: '',
        name
      }),
      allowed,
      `${JSON.stringify(names)} ${name}`
    )
  }
})

t.test('rules and their members are kept once, whatever their order', async t => {
  const many = Array.from(
    { length: 5400 },
    (_, at): Rule => ({
      verbs: at % 2 === 0 ? ['get', 'list'] : ['list', 'get', 'get'], apiGroups: [''], resources: ['pods']
    })
  )
  t.same(distinctRules([
    ...many, { verbs: ['get'], apiGroups: [''], resources: ['pods', 'pods'], resourceNames: ['a'] }
  ]), [
    { verbs: ['get', 'list'], apiGroups: [''], resources: ['pods'] },
    { verbs: ['get'], apiGroups: [''], resources: ['pods'], resourceNames: ['a'] }
  ])
})
