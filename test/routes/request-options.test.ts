/** Options of requests, in queries and in DeleteOptions, and the errors for bad ones. */
import t from 'tap'
import { build } from '../build.js'

const CONFIGS = '/api/v1/namespaces/default/configmaps'
const PODS = '/api/v1/namespaces/default/pods'

t.test('a failed precondition of a deletion is worded as upstream does for that kind', async t => {
  const server = await build(t)
  const { metadata: { uid, resourceVersion } } = (await server.post(CONFIGS, { metadata: { name: 'a' } })).json
  const refused = async (url: string, preconditions: object, kind: string, why: string): Promise<void> => {
    t.match(
      await server.delete(url, { preconditions }),
      {
        code: 409,
        json: {
          reason: 'Conflict',
          message: `Operation cannot be fulfilled on ${kind} "a": ${why}`,
          details: { name: 'a', kind }
        }
      },
      why
    )
  }
  await refused(
    `${CONFIGS}/a`,
    { uid: 'x' },
    'ConfigMap',
    `the UID in the precondition (x) does not match the UID in record (${uid}). The object might have been deleted ` +
    'and then recreated'
  )
  await refused(
    `${CONFIGS}/a`,
    { resourceVersion: '1' },
    'ConfigMap',
    `the ResourceVersion in the precondition (1) does not match the ResourceVersion in record (${resourceVersion}). ` +
    'The object might have been modified'
  )
  const namespace = (await server.post('/api/v1/namespaces', { metadata: { name: 'a' } })).json.metadata
  await refused(
    '/api/v1/namespaces/a', { uid: 'x' }, 'namespaces',
    `Precondition failed: UID in precondition: x, UID in object meta: ${namespace.uid}`
  )
})

t.test('contradictory options of a deletion are Invalid', async t => {
  const server = await build(t)
  const field = 'propagationPolicy'
  t.match(await server.delete(`${CONFIGS}/a`, { propagationPolicy: 'Foo' }), {
    code: 422,
    json: {
      details: {
        kind: 'DeleteOptions',
        causes: [
          {
            reason: 'FieldValueNotSupported',
            message: 'Unsupported value: "Foo": supported values: "Foreground", "Background", "Orphan"',
            field
          }
        ]
      }
    }
  })
  t.match(await server.delete(`${CONFIGS}/a`, { propagationPolicy: 'Orphan', orphanDependents: true }), {
    code: 422,
    json: {
      details: {
        causes: [
          {
            reason: 'FieldValueInvalid',
            message: 'Invalid value: "Orphan": orphanDependents and deletionPropagation cannot be both set',
            field
          }
        ]
      }
    }
  })
})

t.test('a negative grace period is one second', async t => {
  const server = await build(t)
  for (const [name, remove] of [
    ['a', () => server.delete(`${PODS}/a`, { gracePeriodSeconds: -5 })],
    ['b', () => server.delete(`${PODS}/b?gracePeriodSeconds=-5`)]
  ] as const) {
    await server.post(PODS, { metadata: { name }, spec: { nodeName: 'n', containers: [{ name: 'c', image: 'i' }] } })
    t.equal((await remove()).json.metadata.deletionGracePeriodSeconds, 1)
  }
})

t.test('invalid options of writes and watches are refused in the words of upstream', async t => {
  const server = await build(t)
  await server.post(CONFIGS, { metadata: { name: 'a' } })
  for (const [method, url, cause] of [
    [
      'POST', `${CONFIGS}?fieldValidation=x`,
      { field: 'fieldValidation', message: 'Unsupported value: "x": supported values: "", "Ignore", "Strict", "Warn"' }
    ],
    [
      'POST', `${CONFIGS}?fieldManager=%C3%A4b%07`,
      { field: 'fieldManager', message: 'Invalid value: "äb\\u0007": invalid character U+0007 (at position 3)' }
    ],
    [
      'POST', `${CONFIGS}?fieldManager=${'%C3%A4'.repeat(65)}`,
      { field: 'fieldManager', message: 'Too long: must have at most 128 bytes' }
    ],
    [
      'PATCH', `${CONFIGS}/a?force=true`,
      { field: 'force', message: 'Forbidden: may not be specified for non-apply patch' }
    ],
    [
      'PATCH', `${CONFIGS}/a?force=`, { field: 'force', message: 'Forbidden: may not be specified for non-apply patch' }
    ],
    [
      'GET', `${CONFIGS}?watch=1&resourceVersionMatch=Exact&resourceVersion=1`,
      { field: 'resourceVersionMatch', message: 'Forbidden: resourceVersionMatch is forbidden for watch' }
    ]
  ] as const) {
    const body = method === 'GET' ? undefined : { metadata: { name: 'a' } }
    t.match(
      await server.call(method, url, body, {
        'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
      }),
      { code: 422, json: { reason: 'Invalid', details: { causes: [cause] } } },
      url
    )
  }
  for (const selector of ['metadata.name%3Db', 'metadata.namespace%3Ddefault']) {
    t.match(
      await server.get(`/api/v1/watch/namespaces/default/configmaps/a?fieldSelector=${selector}`),
      { code: 400, json: { message: "fieldSelector metadata.name doesn't match requested name" } }
    )
  }
  t.match(await server.get(`${CONFIGS}?fieldSelector=metadata.name%3Db,x`), {
    code: 400, json: { message: "invalid selector: 'metadata.name=b,x'; can't understand 'x'" }
  })
})
