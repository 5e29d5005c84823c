/** Updates that write the same quantity in another way, through the whole server. */
import t from 'tap'
import { build } from '../build.js'

const NAMESPACE = 'namespaces/default'
const PODS = `/api/v1/${NAMESPACE}/pods`
const CLAIMS = `/api/v1/${NAMESPACE}/persistentvolumeclaims`
const strategic = { 'content-type': 'application/strategic-merge-patch+json' }
const resources = (memory: string) => ({ requests: { memory }, limits: { memory } })
const container = (memory: string) => ({ name: 'c', image: 'i', resources: resources(memory) })
const template = (memory: string) => ({ metadata: { labels: { a: 'b' } }, spec: { containers: [container(memory)] } })
const claim = (storage: string) => ({ accessModes: ['ReadWriteOnce'], resources: { requests: { storage } } })

t.test('what may not change may be written in another notation, which is kept', async t => {
  const server = await build(t)
  await server.post(PODS, {
    metadata: { name: 'p' },
    spec: { containers: [container('1Gi')], volumes: [{ name: 'v', emptyDir: { sizeLimit: '1Gi' } }] }
  })
  const jobs = `/apis/batch/v1/${NAMESPACE}/jobs`
  await server.post(jobs, {
    metadata: { name: 'j' }, spec: { template: { spec: { restartPolicy: 'Never', containers: [container('1Gi')] } } }
  })
  const sets = `/apis/apps/v1/${NAMESPACE}/statefulsets`
  const templates = (storage: string) => [{ metadata: { name: 'v' }, spec: claim(storage) }]
  await server.post(sets, {
    metadata: { name: 's' },
    spec: {
      serviceName: 's',
      selector: { matchLabels: { a: 'b' } },
      template: template('1Gi'),
      volumeClaimTemplates: templates('1Gi')
    }
  })
  await server.post(CLAIMS, { metadata: { name: 'v' }, spec: claim('1Gi') })
  const writes = (amount: string) => [
    [`${PODS}/p`, { containers: [container(amount)] }],
    [`${PODS}/p`, { volumes: [{ name: 'v', emptyDir: { sizeLimit: amount } }] }],
    [`${jobs}/j`, { template: { spec: { containers: [container(amount)] } } }],
    [`${sets}/s`, { volumeClaimTemplates: templates(amount) }],
    [`${CLAIMS}/v`, claim(amount)]
  ] as const
  for (const [url, spec] of writes('1073741824')) {
    t.match(await server.call('PATCH', url, { spec }, strategic), { code: 200, json: { spec } }, url)
  }
  for (const [url, spec] of writes('2Gi')) {
    t.equal((await server.call('PATCH', url, { spec }, strategic)).code, 422, url)
  }
})

t.test('another notation is no change of the desired state', async t => {
  const server = await build(t)
  for (const plural of ['deployments', 'daemonsets']) {
    const url = `/apis/apps/v1/${NAMESPACE}/${plural}`
    const made = await server.post(url, {
      metadata: { name: 'o' }, spec: { selector: { matchLabels: { a: 'b' } }, template: template('1Gi') }
    })
    const metadataOf = async (memory: string) => {
      const { generation, annotations } = (await server.call(
        'PATCH', `${url}/o`, { spec: { template: template(memory) } }, strategic
      )).json['metadata']
      return { generation, annotations }
    }
    t.equal(made.json['metadata'].generation, 1)
    t.same(await metadataOf('1073741824'), { generation: 1, annotations: made.json['metadata'].annotations }, plural)
    t.match(await metadataOf('2Gi'), { generation: 2 }, plural)
  }
})
