/**
 * Requests whose work is larger than what was sent: the products of what several objects hold, the texts made of them,
 * and texts that cost more to read than they hold. Each line is of a user who may write instances of a type, roles or
 * endpoints in one namespace.
 */
import {
  create, dry, JSON_PATCH, keyed, large, many, MAPS, MERGE, patch, TABLE, YAML, type Call, type Shape
} from './tenant-shapes.js'

const RBAC = '/apis/rbac.authorization.orch.io/v1'
const DEFINITIONS = '/apis/apiextensions.orch.io/v1/customresourcedefinitions'
const ENDPOINTS = '/api/v1/namespaces/default/endpoints'
/** Size of the largest bodies. */
const BODY = 2_900_000

/** The user of the benchmark is in this group. */
const GROUP = { kind: 'Group', apiGroup: 'rbac.authorization.orch.io', name: 'group-a' }
const users = many(18, at => ({ kind: 'User', apiGroup: 'rbac.authorization.orch.io', name: `user-${at}` }))
const binding = (name: object, role: string, subjects: object[]): object => ({
  metadata: name, roleRef: { apiGroup: 'rbac.authorization.orch.io', kind: 'ClusterRole', name: role }, subjects
})
const roleBinding = (namespace: string, name: string, role: string, subjects: object[]): Call =>
  create(`${RBAC}/namespaces/${namespace}/rolebindings`, binding({ name }, role, subjects))
const clusterRole: Call = create(`${RBAC}/clusterroles`, {
  metadata: { name: 'many-rules' },
  rules: many(5400, at => ({ verbs: ['get'], apiGroups: [''], resources: [`r${at}`] }))
})
const namespaces = many(300, at => `tenant-${at}`)

const definition = (
  plural: string, schema: object, additionalPrinterColumns: object[] = []
): Call => create(DEFINITIONS, {
  metadata: { name: `${plural}.grown.example.com` },
  spec: {
    group: 'grown.example.com',
    names: { plural, kind: plural },
    scope: 'Namespaced',
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', properties: { spec: schema } } },
        additionalPrinterColumns
      }
    ]
  }
})
const instances = (plural: string): string => `/apis/grown.example.com/v1/namespaces/default/${plural}`
const instance = (plural: string, spec: object): Call =>
  create(instances(plural), { apiVersion: 'grown.example.com/v1', kind: plural, metadata: { name: 'one' }, spec })
const nested = (depth: number): object => depth === 0
  ? { type: 'object' }
  : { type: 'object', properties: { l: { type: 'array', default: many(10, () => ({})), items: nested(depth - 1) } } }
const columns = (count: number, jsonPath: string): object[] =>
  many(count, at => ({ name: `c${at}`, type: 'string', jsonPath }))
const FREE = { type: 'object', 'x-orch-preserve-unknown-fields': true }
const list = many(15_000, at => ({ a: `x${at}` }))
const table = (path: string): Call => ({ method: 'GET', path, accept: TABLE })
const yaml = (body: string): Call => ({ method: 'POST', path: MAPS, type: YAML, body })

/** A body of comments. */
export const COMMENTS = yaml(`a: 1\n${'#\n'.repeat(BODY / 2)}`)
/** One that a thread reads, too. */
export const PLAIN_YAML = dry(yaml(`metadata: {name: plain}\ndata:\n${many(500, at => `  k${at}: ''\n`).join('')}`))
/** A large object that many watches see, and its changes. */
export const WATCHED = large('watched')
export const changeOfWatched = (at: number): Call => patch(`${MAPS}/watched`, MERGE, { data: { k7: `changed ${at}` } })

export const GROWING: readonly Shape[] = [
  {
    code: 413,
    name: 'create of {} that gets defaults in eight levels of lists',
    before: [definition('nests', { ...nested(8) })],
    call: dry(create(instances('nests'), {
      apiVersion: 'grown.example.com/v1', kind: 'nests', metadata: { name: 'one' }, spec: {}
    }))
  },
  {
    name: 'LIST by a member of a group with 5,400 rules, 12,000 times in a binding',
    before: [clusterRole, roleBinding('default', 'many-subjects', 'many-rules', many(12_000, () => GROUP))],
    call: { method: 'GET', path: '/api/v1/namespaces/default/secrets' }
  },
  {
    name: 'LIST by a member of a group that 300 namespaces bind',
    before: namespaces.flatMap(name => [
      create('/api/v1/namespaces', { metadata: { name } }), roleBinding(name, 'members', 'view', [GROUP])
    ]),
    call: { method: 'GET', path: '/api/v1/namespaces/default/secrets' }
  },
  {
    name: 'create of a binding beside 300 of the same 18 users',
    before: namespaces.map(name => roleBinding(name, 'users', 'view', users)),
    call: create(`${RBAC}/namespaces/default/rolebindings`, binding({ generateName: 'users-' }, 'view', users))
  },
  {
    name: 'GET of endpoints with 6,000 addresses and 6,000 ports as Table',
    before: [
      create(ENDPOINTS, {
        metadata: { name: 'many' },
        subsets: [
          {
            addresses: many(6000, at => ({ ip: `10.0.${at >> 8}.${at & 255}` })),
            ports: many(6000, at => ({ name: `p${at}`, port: at + 1 }))
          }
        ]
      })
    ],
    call: table(`${ENDPOINTS}/many`)
  },
  {
    name: 'LIST as Table of 200 columns of .spec.l[*].a',
    before: [definition('columns', FREE, columns(200, '.spec.l[*].a')), instance('columns', { l: list })],
    call: table(instances('columns'))
  },
  {
    name: 'LIST as Table of 200 columns that find nothing',
    before: [definition('filters', FREE, columns(200, '.spec.l[?(@.a=="none")].a')), instance('filters', { l: list })],
    call: table(instances('filters'))
  },
  {
    code: 422,
    name: 'create of a definition of 1,500 columns',
    call: dry(definition('wide', FREE, columns(1500, '.spec.l[*].a')))
  },
  { code: 400, name: 'create of 2.9 MB of YAML comments', call: COMMENTS },
  { code: 400, name: 'create of 2.9 MB of YAML tags', call: yaml(`a: ${'!x '.repeat(BODY / 3)}`) },
  {
    code: 413,
    name: 'JSON patch with a pointer of 2.9 MB',
    before: [create(MAPS, { metadata: { name: 'pointed' }, data: keyed(1, () => '') })],
    call: patch(`${MAPS}/pointed`, JSON_PATCH, [{ op: 'remove', path: '/'.repeat(BODY) }])
  },
  {
    code: 413,
    name: 'JSON patch with 350 pointers of 8,000 slashes',
    call: patch(`${MAPS}/pointed`, JSON_PATCH, many(350, () => ({ op: 'test', path: '/'.repeat(8000), value: null })))
  }
]
