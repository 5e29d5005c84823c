/** Concurrent updates of one object: each one that comes too late is repeated with what it sent. */
import t from 'tap'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { build, type Json } from '../build.js'

const URL = '/apis/apps/v1/namespaces/default/deployments'
const labels = { app: 'web' }
const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: 'u' }

const deployment = (by: string): Json => ({
  metadata: { name: 'one', annotations: { by }, ownerReferences: [owner, owner] },
  spec: {
    nobody: 'knows it',
    replicas: by.length,
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [{ name: by, image: by, ports: [{ containerPort: 80 }] }] } }
  }
})

t.test('each racing update is stored as it was sent, with one warning for its fields', async t => {
  let asked = 0
  const pause = {
    name: 'Pause',
    handles: [{ operations: '*', groups: ['apps'], resources: ['deployments'] }],
    mutate: async () => { asked++; await nextTurn() }
  } as const
  const server = await build(t, { admission: { plugins: [pause] } })
  t.equal(
    (await server.post(URL, {
      ...deployment('first'), spec: { ...deployment('first')['spec'] as object, nobody: undefined }
    })).code,
    201
  )
  const writers = Array.from({ length: 20 }, (_, at) => 'w'.repeat(at + 1))
  const answers = await Promise.all(writers.map(by =>
    server.put(`${URL}/one?fieldValidation=Warn&fieldManager=${by}`, deployment(by))))
  for (const [at, by] of writers.entries()) {
    const { code, json, headers } = answers[at] ?? t.fail('no answer') as never
    t.equal(code, 200, JSON.stringify(json))
    t.match(json, {
      metadata: { annotations: { by }, ownerReferences: [owner] },
      spec: {
        replicas: by.length, template: { spec: { containers: [{ name: by, image: by, imagePullPolicy: 'Always' }] } }
      }
    })
    t.equal((json.metadata['ownerReferences'] as unknown[]).length, 1)
    t.equal(
      [headers['warning']].flat().filter(text => String(text).includes('nobody')).length, 1, String(headers['warning'])
    )
  }
  const versions = answers.map(({ json }) => Number(json.metadata['resourceVersion']))
  t.equal(new Set(versions).size, writers.length, 'none was taken for another')
  t.ok(asked > 2 * writers.length, `${asked} attempts`)
})
