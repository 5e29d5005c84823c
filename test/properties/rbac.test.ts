/** RBAC compared to a slow, obvious model: random roles and bindings that come and go, and random questions. */
import t from 'tap'
import { build, type Json } from '../build.js'
import { random } from '../random.js'

const { seed, int } = random()
const pick = <T>(...values: readonly T[]): T => values[int(values.length)] as T // there is one
const some = <T>(...values: readonly T[]): T[] => values.filter(() => int(2) === 0)
const atLeastOne = <T>(...values: readonly T[]): T[] => {
  const chosen = some(...values)
  return chosen.length > 0 ? chosen : [pick(...values)]
}

const API = 'rbac.authorization.orch.io'
const ROOT = `/apis/${API}/v1`
const HEADERS = { authorization: 'Bearer root' }
const NAMESPACES = ['a', 'b']

interface Rule {
  verbs: string[]
  apiGroups?: string[]
  resources?: string[]
  resourceNames?: string[]
  nonResourceURLs?: string[]
}
interface Role { namespace: string, name: string, rules: Rule[] }
interface Subject { kind: string, name: string, namespace?: string }
interface Binding { namespace: string, name: string, role: { kind: string, name: string }, subjects: Subject[] }
interface Question {
  user: string
  groups: string[]
  resourceAttributes?: Record<string, string>
  nonResourceAttributes?: { verb: string, path: string }
}

function someRule (namespaced: boolean): Rule {
  const verbs = atLeastOne('get', 'list', 'delete', '*')
  if (!namespaced && int(5) === 0) return { verbs, nonResourceURLs: atLeastOne('/metrics', '/logs/*', '*') }
  return {
    verbs,
    apiGroups: atLeastOne('', 'apps', '*'),
    resources: atLeastOne('pods', 'pods/log', '*/log', 'secrets', '*'),
    ...(int(3) === 0 ? { resourceNames: atLeastOne('x', 'y', '*') } : {})
  }
}

const someRole = (): Role => {
  const namespace = pick('', ...NAMESPACES)
  return {
    namespace, name: pick('r1', 'r2', 'r3'), rules: Array.from({ length: int(3) }, () => someRule(namespace !== ''))
  }
}

const someSubject = (): Subject => pick<() => Subject>(
  () => ({ kind: 'User', name: pick('ann', 'bob', 'system:serviceaccount:a:robot') }),
  () => ({ kind: 'Group', name: pick('devs', 'ops', 'system:serviceaccounts') }),
  () => ({ kind: 'ServiceAccount', name: 'robot', namespace: pick(...NAMESPACES) })
)()

const someBinding = (): Binding => {
  const namespace = pick('', ...NAMESPACES)
  return {
    namespace,
    name: pick('b1', 'b2', 'b3', 'b4'),
    role: { kind: namespace === '' ? 'ClusterRole' : pick('ClusterRole', 'Role'), name: pick('r1', 'r2', 'r3') },
    subjects: Array.from({ length: 1 + int(2) }, someSubject)
  }
}

const someQuestion = (): Question => ({
  user: pick('ann', 'bob', 'eve', 'system:serviceaccount:a:robot', 'system:serviceaccount:b:robot'),
  groups: some('devs', 'ops', 'system:serviceaccounts'),
  ...(int(6) === 0
    ? {
        nonResourceAttributes: {
          verb: pick('get', 'delete', 'post'), path: pick('/metrics', '/logs', '/logs/', '/logs/x', '/other')
        }
      }
    : {
        resourceAttributes: {
          verb: pick('get', 'list', 'delete', 'create'),
          group: pick('', 'apps', 'batch'),
          resource: pick('pods', 'secrets', 'nodes'),
          subresource: pick('', '', 'log', 'exec'),
          namespace: pick('', ...NAMESPACES),
          name: pick('', 'x', 'y', 'z')
        }
      })
})

/** Follows upstream's definition step by step, without caches or indexes. */
function allowed (
  roles: readonly Role[], bindings: readonly Binding[],
  { user, groups, resourceAttributes: asked, nonResourceAttributes: path }: Question
): boolean {
  const isMeant = ({ kind, name, namespace }: Subject): boolean => kind === 'User'
    ? name === user
    : kind === 'Group' ? groups.includes(name) : user === `system:serviceaccount:${namespace ?? ''}:${name}`
  for (const binding of bindings) {
    if (binding.namespace !== '' && (asked === undefined || asked['namespace'] !== binding.namespace)) continue
    if (!binding.subjects.some(isMeant)) continue
    const { rules = [] } = roles.find(({ namespace, name }) =>
      name === binding.role.name && namespace === (binding.role.kind === 'Role' ? binding.namespace : '')) ?? {}
    for (const { verbs, apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } of rules) {
      const verb = asked?.['verb'] ?? path?.verb ?? ''
      if (!verbs.includes(verb) && !verbs.includes('*')) continue
      if (path !== undefined) {
        if (nonResourceURLs.some(url =>
          url === '*' || url === path.path || (url.endsWith('*') && path.path.startsWith(url.slice(0, -1))))) {
          return true
        }
        continue
      }
      const { group = '', resource = '', subresource = '', name = '' } = asked ?? {}
      if (!apiGroups.includes(group) && !apiGroups.includes('*')) continue
      const whole = subresource === '' ? resource : `${resource}/${subresource}`
      if (!resources.includes('*') && !resources.includes(whole) &&
        (subresource === '' || !resources.includes(`*/${subresource}`))) {
        continue
      }
      if (resourceNames.length > 0 && !resourceNames.includes(name)) continue
      return true
    }
  }
  return false
}

t.test('RBAC decides like a model of it, after each change', async t => {
  t.comment(`seed ${seed}`)
  const server = await build(t, {
    authentication: { tokens: 'root,root,1,system:masters\n' }, authorization: { modes: ['RBAC'] }
  })
  for (const name of NAMESPACES) {
    t.equal((await server.post('/api/v1/namespaces', { metadata: { name } }, HEADERS)).code, 201)
  }
  const roles = new Map<string, Role>()
  const bindings = new Map<string, Binding>()
  const urlOf = (namespace: string, plural: string): string =>
    namespace === '' ? `${ROOT}/cluster${plural}` : `${ROOT}/namespaces/${namespace}/${plural}`
  const call = async (method: string, url: string, body?: Json): Promise<number> =>
    (await server.call(method, url, body, HEADERS)).code
  const put = async <T extends Role | Binding>(
    all: Map<string, T>, plural: string, one: T, body: Json
  ): Promise<void> => {
    const key = `${one.namespace}/${one.name}`
    const url = urlOf(one.namespace, plural)
    if (all.has(key)) t.equal(await call('DELETE', `${url}/${one.name}`), 200)
    all.delete(key)
    if (int(4) === 0) return
    const code = await call('POST', url, { metadata: { name: one.name }, ...body })
    if (code !== 201) t.fail(`${url} ${JSON.stringify(body)}: ${code}`)
    all.set(key, one)
  }
  for (let round = 0; round < 60; round++) {
    const role = someRole()
    await put(roles, 'roles', role, { rules: role.rules })
    const binding = someBinding()
    await put(bindings, 'rolebindings', binding, {
      roleRef: { apiGroup: API, ...binding.role },
      subjects: binding.subjects.map(subject =>
        subject.kind === 'ServiceAccount' ? subject : { ...subject, apiGroup: API })
    })
    for (let asked = 0; asked < 25; asked++) {
      const question = someQuestion()
      const { json } = await server.post(
        '/apis/authorization.orch.io/v1/subjectaccessreviews', { spec: question }, HEADERS
      )
      const expected = allowed([...roles.values()], [...bindings.values()], question)
      if (json['status']?.allowed !== expected) {
        t.equal(
          json['status']?.allowed, expected,
          JSON.stringify({ question, roles: [...roles.values()], bindings: [...bindings.values()], answer: json })
        )
      }
    }
  }
  t.pass('1,500 questions')
})
