/** What webhooks receive, and what counts in their answers. Interface: Dry-run; Notable changes. */
import t from 'tap'
import type { AdmissionRequest } from '../../../registry/admission.js'
import { readAnswer } from '../../../admission/webhooks/answer.js'
import { callWebhook } from '../../../admission/webhooks/call-webhook.js'
import { hooksOf, type Hook } from '../../../admission/webhooks/hook.js'
import { build, type Json } from '../../build.js'
import { allow, configure, CONFIGS, deny, hookServer, MUTATING, patching, VALIDATING, webhook } from './hook-server.js'

t.test('a webhook gets the whole review, in the first known version that it names', async t => {
  const hook = await hookServer(t)
  const server = await build(t, { authentication: { tokens: 'tok,ann,7,"devs,ops"\n' } })
  await configure(server, VALIDATING, 'a', webhook('a', hook, {
    admissionReviewVersions: ['v2', 'v1beta1', 'v1'],
    timeoutSeconds: 3,
    rules: [{ operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }]
  }))
  const made = await server.post(
    `${CONFIGS}?fieldManager=me`, { metadata: { name: 'c', labels: { a: 'b' } }, data: { k: 'v' } },
    { authorization: 'Bearer tok' }
  )
  t.match(made, { code: 201 }, made.body)
  t.match(hook.asked[0], {
    kind: 'AdmissionReview',
    apiVersion: 'admission.orch.io/v1beta1',
    path: '/hook?timeout=3s',
    request: {
      uid: /^[0-9a-f-]{36}$/,
      kind: { group: '', version: 'v1', kind: 'ConfigMap' },
      resource: { group: '', version: 'v1', resource: 'configmaps' },
      requestKind: { group: '', version: 'v1', kind: 'ConfigMap' },
      requestResource: { group: '', version: 'v1', resource: 'configmaps' },
      name: 'c',
      namespace: 'default',
      operation: 'CREATE',
      userInfo: { username: 'ann', uid: '7', groups: ['devs', 'ops', 'system:authenticated'] },
      object: {
        kind: 'ConfigMap',
        apiVersion: 'v1',
        metadata: { name: 'c', namespace: 'default', uid: made.json.metadata.uid, labels: { a: 'b' } },
        data: { k: 'v' }
      },
      oldObject: null,
      dryRun: false,
      options: { kind: 'CreateOptions', apiVersion: 'meta.orch.io/v1', fieldManager: 'me' }
    }
  })
  t.notOk('subResource' in hook.asked[0]?.request)

  await server.patch(`${CONFIGS}/c`, { data: { k: 'w' } })
  t.match(hook.asked[1]?.request, {
    operation: 'UPDATE',
    object: { data: { k: 'w' } },
    oldObject: { kind: 'ConfigMap', data: { k: 'v' } },
    options: { kind: 'UpdateOptions' }
  })
  await server.delete(`${CONFIGS}/c?dryRun=All`, {
    gracePeriodSeconds: 3, propagationPolicy: 'Orphan', preconditions: { uid: made.json.metadata.uid }
  })
  t.match(hook.asked[2]?.request, {
    operation: 'DELETE', object: null, oldObject: { data: { k: 'w' } }, dryRun: true,
    options: {
      kind: 'DeleteOptions',
      dryRun: ['All'],
      gracePeriodSeconds: 3,
      propagationPolicy: 'Orphan',
      preconditions: { uid: made.json.metadata.uid }
    }
  })
})

t.test('a large answer is read in several turns', t => {
  const patch = JSON.stringify([{ op: 'add', path: '/data', value: 'x'.repeat(4_000_000) }])
  const response = { uid: 'u', allowed: true, patchType: 'JSONPatch', patch: Buffer.from(patch).toString('base64') }
  const steps = readAnswer(
    Buffer.from(JSON.stringify({ kind: 'AdmissionReview', apiVersion: 'admission.orch.io/v1', response })), 'v1', 'u',
    true
  )
  let turns = 1
  let read = steps.next()
  for (; read.done !== true; read = steps.next()) turns++
  t.ok(turns > 5, `${turns} turns`)
  t.equal(read.value.patch?.text, patch)
  t.end()
})

t.test('a refusal has the code, reason, message and details that the webhook returns', async t => {
  const hook = await hookServer(t)
  const server = await build(t)
  await configure(server, VALIDATING, 'a', webhook('a', hook))
  const refused = async (status?: Json): Promise<Json> => {
    hook.answer = deny(status)
    const { code, json } = await server.post(CONFIGS, { metadata: { generateName: 'c-' } })
    t.equal(code, json.code)
    return json
  }
  t.same(await refused(), {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: 'admission webhook "a.example.com" denied the request without explanation',
    code: 400
  })
  t.match(await refused({ message: 'no latest tags', reason: 'Forbidden', code: 403 }), {
    message: 'admission webhook "a.example.com" denied the request: no latest tags', reason: 'Forbidden', code: 403
  })
  t.match(await refused({ reason: 'OutOfLuck' }), {
    message: 'admission webhook "a.example.com" denied the request: OutOfLuck', reason: 'OutOfLuck', code: 400
  })
  t.match(await refused({ code: 200, status: 'Success' }), { code: 400, status: 'Failure' })
  t.match(await refused({ code: 9999 }), { code: 500 })
  t.match(
    await refused({
      code: 429, details: { retryAfterSeconds: 3, causes: [{ field: 'spec.a', message: 'm', reason: 'r' }] }
    }),
    { code: 429, details: { retryAfterSeconds: 3, causes: [{ field: 'spec.a', message: 'm', reason: 'r' }] } }
  )
  t.equal((await server.get(`${CONFIGS}`)).json.items.length, 0)
})

t.test('a mutating webhook changes the object, whose new fields are defaulted and validated', async t => {
  const hook = await hookServer(
    t,
    patching(
      { op: 'add', path: '/metadata/labels', value: { injected: 'yes' } },
      { op: 'add', path: '/spec/containers/-', value: { name: 'sidecar', image: 's' } }
    )
  )
  const server = await build(t)
  await configure(server, MUTATING, 'a', webhook('a', hook, {
    rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['*'], resources: ['pods'] }]
  }))
  const pod = { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } }
  const { code, json } = await server.post('/api/v1/namespaces/default/pods', pod)
  t.match(
    { code, json },
    {
      code: 201,
      json: {
        metadata: { labels: { injected: 'yes' } },
        spec: {
          containers: [
            { name: 'c' },
            { name: 'sidecar', terminationMessagePath: '/dev/termination-log', imagePullPolicy: 'Always' }
          ]
        }
      }
    }
  )
  hook.answer = patching({ op: 'add', path: '/spec/containers/-', value: { name: 'Bad Name', image: 's' } })
  t.match(await server.post('/api/v1/namespaces/default/pods', { ...pod, metadata: { name: 'q' } }), {
    code: 422, json: { details: { causes: [{ field: 'spec.containers[1].name' }] } }
  })
})

t.test('values that a patch does not touch keep their exact digits', async t => {
  const hook = await hookServer(t, patching({ op: 'add', path: '/metadata/labels', value: { a: 'b' } }))
  const server = await build(t)
  await configure(server, MUTATING, 'a', webhook('a', hook, {
    rules: [{ operations: ['CREATE'], apiGroups: ['apps'], apiVersions: ['v1'], resources: ['controllerrevisions'] }]
  }))
  const { code, body } = await server.post(
    '/apis/apps/v1/namespaces/default/controllerrevisions',
    '{"metadata":{"name":"r"},"revision":9007199254740993,"data":{"n":9007199254740995}}'
  )
  t.equal(code, 201, body)
  t.match(body, /"labels":\{"a":"b"\}/)
  t.match(body, /9007199254740993.*9007199254740995|9007199254740995.*9007199254740993/)
})

t.test('in a dry run webhooks without side effects are called, and others refuse the request', async t => {
  const hook = await hookServer(t, allow)
  const server = await build(t)
  await configure(server, VALIDATING, 'a', webhook('a', hook, { sideEffects: 'NoneOnDryRun' }))
  t.equal((await server.post(`${CONFIGS}?dryRun=All`, { metadata: { name: 'c' } })).code, 201)
  t.match(hook.asked[0]?.request, { dryRun: true, options: { dryRun: ['All'] } })
  // Hooks with side effects can no longer be created, but may be stored.
  const [old] = hooksOf({
    kind: 'ValidatingWebhookConfiguration',
    apiVersion: 'admissionregistration.orch.io/v1',
    metadata: { name: 'old' },
    webhooks: [webhook('old', hook, { sideEffects: 'Some' })] as never
  })
  const never = { call: async () => { throw new Error('asked') }, retain: () => {} }
  const question = {
    request: { dryRun: true } as AdmissionRequest,
    writer: undefined as never,
    requested: undefined as never,
    objects: '',
    mutating: false
  }
  await t.rejects(callWebhook(old as Hook, never, question), {
    message: 'admission webhook "old.example.com" does not support dry run'
  })
})

t.test('1.36 sends no creation time that is not set, and takes patches of what it sent', async t => {
  for (const [emulatedVersion, unset] of [['1.24', { creationTimestamp: null }], ['1.36', {}]] as const) {
    const hook = await hookServer(
      t,
      patching(
        { op: 'test', path: '/spec/template/metadata', value: { ...unset, labels: { a: 'b' } } },
        { op: 'add', path: '/metadata/labels', value: { c: 'd' } }
      )
    )
    const server = await build(t, { emulatedVersion })
    await configure(
      server, MUTATING, 'a',
      webhook(
        'a', hook,
        {
          rules: [{
            operations: ['CREATE'], apiGroups: ['*'], apiVersions: ['*'],
            resources: ['deployments', 'controllerrevisions']
          }]
        }
      )
    )
    const made = await server.post(
      '/apis/apps/v1/namespaces/default/deployments',
      {
        metadata: { name: 'd' },
        spec: {
          selector: { matchLabels: { a: 'b' } },
          template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } }
        }
      }
    )
    t.match(made, { code: 201, json: { metadata: { labels: { c: 'd' } } } }, `${emulatedVersion}: ${made.body}`)
    const { object } = hook.asked[0]?.request as Json
    t.strictSame(
      [object.metadata.creationTimestamp, object.spec.template.metadata],
      emulatedVersion === '1.24'
        ? [
            null, { creationTimestamp: null, labels: { a: 'b' } }
          ]
        : [undefined, { labels: { a: 'b' } }],
      emulatedVersion
    )
    hook.answer = allow
    await server.post(
      '/apis/apps/v1/namespaces/default/controllerrevisions',
      { metadata: { name: 'r' }, revision: 1, data: { metadata: { creationTimestamp: null } } }
    )
    const revision = hook.asked[1]?.request.object as Json
    t.strictSame(
      [revision.metadata.creationTimestamp, revision.data],
      [emulatedVersion === '1.24' ? null : undefined, { metadata: { creationTimestamp: null } }],
      `${emulatedVersion}: raw JSON stays`
    )
  }
})
