import t from 'tap'
import { stringify } from '../../schemas/codec/json/exact.js'
import { encodeProtobuf } from '../../schemas/codec/protobuf/encode.js'
import type { Representation } from '../../schemas/resource.js'
import { representations } from '../../schemas/resources.js'
import { TABLE, BINDINGS, PROTOBUF, build, type Json } from '../build.js'
import { damage, value } from '../properties/objects.js'
import { random } from '../random.js'
import { REASONS, stillServes } from './refusal.js'

const OF_RELEASE = { 1.24: representations.filter(({ gate }) => gate === undefined), 1.36: representations }
/** Of the release that is asked. */
let resources: readonly Representation[] = representations

const dice = random()
const REQUESTS = Number(process.env['REQUESTS'] ?? 4000)

const pick = <T>(values: readonly T[]): T => values[dice.int(values.length)] as T // the index is within bounds
const sometimes = (part: number): boolean => dice.int(part) === 0

const NAMES = [
  'a', 'b', 'default', '..', '.', '%2e%2e', '%2f', '%', '%00', '%ff', '', ' ', 'ü', '%C3%BC', 'x'.repeat(300),
  '__proto__', 'constructor', 'status', 'namespaces', '*', 'A', '-', '%25', 'a;b', 'a,b', '\u{1f600}'
]
const VALUES = [
  ...NAMES, '0', '1', '-1', '2', '500', 'true', 'false', 'All', 'x', '9007199254740991x', '99999999999999999999',
  'metadata.name=a', 'metadata.name!=a', 'a=b', 'a in (b)', '!a', '((', 'Exact', 'NotOlderThan', 'Strict', 'Ignore',
  'Warn', 'Orphan', 'Foreground', 'Background', 'Object', 'None',
  'eyJ2IjoibWV0YS5vcmNoLmlvL3YxIiwicnYiOjUsInN0YXJ0IjoiYSJ9'
]
const PARAMETERS = [
  'pretty', 'limit', 'continue', 'fieldSelector', 'labelSelector', 'resourceVersion', 'resourceVersionMatch',
  'timeoutSeconds', 'dryRun', 'fieldManager', 'fieldValidation', 'force', 'gracePeriodSeconds', 'propagationPolicy',
  'orphanDependents', 'includeObject', 'sendInitialEvents', 'allowWatchBookmarks', 'verbose', 'exclude', '__proto__',
  'unknown'
]
const TYPES = [
  'application/json', 'application/yaml', PROTOBUF, 'application/json-patch+json', 'application/merge-patch+json',
  'application/strategic-merge-patch+json', 'application/apply-patch+yaml', 'text/plain', 'x',
  'application/json; charset=utf-8', '__proto__', ';', ''
]
const ACCEPTS = [
  'application/json', 'application/yaml', PROTOBUF, TABLE, `${TABLE},application/json`, '*/*', 'text/html',
  'application/json;q=0,*/*', 'application/json;as=PartialObjectMetadata;g=meta.orch.io;v=v1',
  'application/json;as=PartialObjectMetadataList;g=meta.orch.io;v=v1beta1',
  `${PROTOBUF};as=PartialObjectMetadataList;g=meta.orch.io;v=v1`, ';;', '__proto__'
]

function path (): string {
  if (sometimes(12)) {
    return pick([
      '/', '/api', '/apis', '/api/v1', '/apis/rbac.authorization.orch.io', '/apis/rbac.authorization.orch.io/v1',
      '/version', '/openapi/v2', '/healthz', '/livez', '/readyz', '/metrics', '/nothing', '//', `/${pick(NAMES)}`,
      `/livez/${pick(NAMES)}`, `/apis/${pick(NAMES)}/${pick(NAMES)}`
    ])
  }
  const { group, version, plural } = pick(resources)
  const base =
    sometimes(30) ? `/apis/${pick(NAMES)}/v1` : group === '' ? `/api/${version}` : `/apis/${group}/${version}`
  return base + (sometimes(2) ? `/namespaces/${sometimes(3) ? pick(NAMES) : 'default'}` : '') + `/${plural}` +
    (sometimes(2) ? `/${pick(NAMES)}` : '') + (sometimes(8) ? `/${pick(NAMES)}` : '')
}

function query (): string {
  if (sometimes(2)) return ''
  const parameter = (): string => `${pick(PARAMETERS)}${sometimes(8) ? '' : `=${encodeURIComponent(pick(VALUES))}`}`
  return `?${Array.from({ length: 1 + dice.int(3) }, parameter).join('&')}`
}

function operations (): Json[] {
  const pointer = (): string => pick([
    '', '/', '/metadata', '/metadata/labels', '/metadata/labels/a', '/metadata/name', '/subjects', '/subjects/0',
    '/subjects/-', '/subjects/01', '/subjects/4294967296', '/roleRef/name', '/data', '/data/a', '/__proto__',
    '/constructor/prototype', '/metadata/finalizers', '/spec', '/status', '/x~1y', '/x~'
  ])
  return Array.from(
    { length: dice.int(5) },
    () => ({
      op: pick(['add', 'remove', 'replace', 'move', 'copy', 'test', 'x']),
      path: pointer(),
      from: pointer(),
      value: pick<unknown>([null, 1, 'x', {}, [], { a: 'b' }, true])
    })
  )
}

function body (definition: Representation): { type: string, bytes: string | Buffer } {
  const object = { ...value(dice, definition.message) as Json }
  if (!sometimes(5)) {
    object.metadata = { ...object.metadata, name: pick(NAMES), namespace: undefined, resourceVersion: undefined }
  }
  if (!sometimes(5)) delete object.kind
  if (!sometimes(5)) delete object.apiVersion
  const type = pick(TYPES)
  if (type === PROTOBUF) {
    // the members it needs are filled in
    const bytes = Buffer.from(encodeProtobuf(definition.message, { metadata: { name: pick(NAMES) } } as never))
    return { type, bytes: sometimes(2) ? bytes : damage(dice, bytes) }
  }
  const text = stringify(type.includes('json-patch') ? operations() : object) ?? ''
  if (sometimes(4)) return { type, bytes: damage(dice, Buffer.from(text)) }
  return { type, bytes: sometimes(20) ? '' : text }
}

for (const emulatedVersion of ['1.24', '1.36'] as const) {
  t.test(`under ${emulatedVersion} every random request is answered with a result ` +
    'or a Status that explains the refusal', async t => {
    resources = OF_RELEASE[emulatedVersion]
    t.comment(`seed ${dice.seed}`)
    const server = await build(t, { emulatedVersion, api: { disabled: [] } })
    for (const name of ['a', 'b']) {
      await server.put(
        `${BINDINGS}/${name}`,
        {
          metadata: { finalizers: ['example.com/x'] },
          roleRef: { apiGroup: 'rbac.authorization.orch.io', kind: 'ClusterRole', name: 'view' },
          subjects: [{ kind: 'User', name: 'ann' }]
        }
      )
    }
    const counted = new Map<number, number>()
    for (let index = 0; index < REQUESTS / 2; index++) {
      const method = pick(['GET', 'GET', 'GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'])
      const url = path() + query()
      const sent = method === 'POST' || method === 'PUT' || method === 'PATCH' || (method === 'DELETE' && sometimes(3))
        ? body(pick(resources))
        : undefined
      const headers: Record<string, string> = {
        ...(sometimes(2) ? { accept: pick(ACCEPTS) } : {}),
        ...(sent === undefined ? {} : { 'content-type': sent.type }),
        ...(sometimes(20) ? { 'accept-encoding': 'gzip' } : {})
      }
      const { code, json, headers: got, body: text } = await server.call(method, url, sent?.bytes, headers)
      counted.set(code, (counted.get(code) ?? 0) + 1)
      const told =
        `${method} ${url} ${JSON.stringify(headers)} ${String(sent?.bytes ?? '').slice(0, 500)}: ${code} ` +
        `${text.slice(0, 300)}`
      if (code >= 500 && !(code === 504 && /Too large resource version/.test(text))) t.fail(told)
      if (code >= 400 && method !== 'HEAD' && String(got['content-type']).startsWith('application/json')) {
        // Paths that its router rejects are answered by the host, here a bare Fastify.
        if (String(json.code).startsWith('FST_ERR_')) continue
        if (json.kind !== 'Status' || json.code !== code || !(REASONS[code] ?? ['Timeout']).includes(json.reason) ||
          typeof json.message !== 'string' || json.message === '') {
          t.fail(`no Status: ${told}`)
        }
      }
      if (code >= 200 && code < 300 && method !== 'HEAD' && text === '') t.fail(`nothing: ${told}`)
    }
    t.comment(`codes ${JSON.stringify(Object.fromEntries(counted))}`)
    t.ok((counted.get(200) ?? 0) > REQUESTS / 40, 'some of it makes sense')
    t.ok((counted.get(400) ?? 0) > REQUESTS / 40, 'and some does not')
    let listed = 0
    // Accepted objects do not break reads of others.
    for (const { group, version, plural, verbs } of resources) {
      if (!verbs.includes('list')) continue
      const url = `${group === '' ? `/api/${version}` : `/apis/${group}/${version}`}/${plural}`
      if ((await server.get(url)).code === 404) continue // not of this release
      listed++
      for (const accept of ['application/json', 'application/yaml', PROTOBUF, TABLE]) {
        t.equal((await server.get(url, { accept })).code, 200, `${url} as ${accept}`)
      }
    }
    t.ok(listed > 50, `${listed} kinds`)
    await stillServes(t, server)
  })
}
