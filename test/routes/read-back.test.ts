/** Objects as they are read back, where they differ from what was sent by more than defaults of single fields. */
import t from 'tap'
import { build, type Json, type Client } from '../build.js'

const pod = { containers: [{ name: 'main', image: 'nginx' }] }

async function stored (server: Client, url: string, object: Json): Promise<Json> {
  const { code, json, body } = await server.post(url, object)
  if (code !== 201) throw new Error(body)
  const read = (await server.get(`${url}/${json.metadata.name as string}`)).json
  t.same(read, json, 'it was answered as it is read')
  return read
}

t.test('a new node keeps the status its agent sent, and its capacity becomes allocatable', async t => {
  const server = await build(t)
  const nodeInfo = {
    machineID: 'm',
    systemUUID: 's',
    bootID: 'b',
    kernelVersion: '5',
    osImage: 'os',
    containerRuntimeVersion: 'c',
    kubeletVersion: 'v1.24.0',
    kubeProxyVersion: 'v1.24.0',
    operatingSystem: 'linux',
    architecture: 'amd64'
  }
  const addresses = [{ type: 'InternalIP', address: '10.2.0.1' }]
  const conditions = [
    {
      type: 'Ready',
      status: 'True',
      reason: 'r',
      message: 'm',
      lastHeartbeatTime: '2022-01-01T00:00:00Z',
      lastTransitionTime: '2022-01-01T00:00:00Z'
    }
  ]
  const { status } = await stored(server, '/api/v1/nodes', {
    metadata: { name: 'n' }, status: { capacity: { cpu: '4', memory: '8Gi' }, addresses, conditions, nodeInfo }
  })
  t.match(status, {
    capacity: { cpu: '4', memory: '8Gi' }, allocatable: { cpu: '4', memory: '8Gi' }, addresses, conditions, nodeInfo
  })
  const refused = await server.post('/api/v1/nodes', { metadata: { name: 'bad' }, status: { capacity: { cpu: '-1' } } })
  t.match(refused, {
    code: 422, json: { details: { causes: [{ field: 'status.capacity.cpu' }, { field: 'status.allocatable.cpu' }] } }
  })
  t.equal(
    (await server.patch('/api/v1/nodes/n', { status: { capacity: { cpu: '8' } } })).json.status.capacity.cpu, '4',
    'later by its status alone'
  )
  t.same(
    (await stored(server, '/apis/apps/v1/namespaces/default/deployments', {
      metadata: { name: 'd' },
      spec: { selector: { matchLabels: { a: 'b' } }, template: { metadata: { labels: { a: 'b' } }, spec: pod } },
      status: { replicas: 7 }
    })).status,
    {},
    'of no other'
  )
})

t.test('a job without labels gets those of its pods', async t => {
  const server = await build(t)
  const url = '/apis/batch/v1/namespaces/default/jobs'
  const job = (name: string, metadata: Json, labels?: Json): Json => ({
    metadata: { name, ...metadata },
    spec: { template: { metadata: { labels }, spec: { ...pod, restartPolicy: 'Never' } } }
  })
  const { metadata } = await stored(server, url, job('a', {}))
  t.same(metadata.labels, { 'controller-uid': metadata.uid, 'job-name': 'a' }, 'those that the server gave them')
  t.same((await server.get(`${url}?labelSelector=job-name=a`)).json.items.length, 1)
  const sent = (await stored(server, url, job('b', {}, { x: 'y' }))).metadata
  t.same(sent.labels, { x: 'y', 'controller-uid': sent.uid, 'job-name': 'b' }, 'those that they were sent with too')
  t.same((await stored(server, url, job('c', { labels: { p: 'q' } }, { x: 'y' }))).metadata.labels, { p: 'q' })
})

t.test('claims of a stateful set say what they are', async t => {
  const server = await build(t)
  const url = '/apis/apps/v1/namespaces/default/statefulsets'
  const claim = {
    metadata: { name: 'data' }, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } }
  }
  const set = {
    metadata: { name: 's' },
    spec: {
      serviceName: 's',
      selector: { matchLabels: { a: 'b' } },
      template: { metadata: { labels: { a: 'b' } }, spec: pod },
      volumeClaimTemplates: [claim]
    }
  }
  t.match((await stored(server, url, set)).spec.volumeClaimTemplates, [
    { kind: 'PersistentVolumeClaim', apiVersion: 'v1', metadata: { name: 'data' }, status: { phase: 'Pending' } }
  ])
  t.equal((await server.put(`${url}/s`, set)).code, 200, 'an update that omits it changes nothing')
})

t.test('definitions of types count their generations', async t => {
  const server = await build(t)
  const url = '/apis/apiextensions.orch.io/v1/customresourcedefinitions'
  const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }]
  const { code, json } = await server.post(url, {
    metadata: { name: 'foos.example.com' },
    spec: { group: 'example.com', scope: 'Namespaced', names: { plural: 'foos', kind: 'Foo' }, versions }
  })
  t.match([code, json.metadata.generation], [201, 1])
  t.equal(
    (await server.patch(`${url}/foos.example.com`, {
      spec: { names: { shortNames: ['fo'] } }
    })).json.metadata.generation,
    2
  )
  t.equal(
    (await server.patch(`${url}/foos.example.com`, { metadata: { labels: { a: 'b' } } })).json.metadata.generation, 2
  )
})
