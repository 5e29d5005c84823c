import t from 'tap'
import { build, type Json } from '../build.js'

const PODS = '/api/v1/namespaces/default/pods'
const OF_POD = 'seccomp.security.alpha.orch.io/pod'
const OF_CONTAINER = 'container.seccomp.security.alpha.orch.io/'

t.test('seccomp profiles of a new pod are copied between fields and annotations', async t => {
  const server = await build(t)
  const cases: ReadonlyArray<readonly [
    title: string, annotations: Json, ofPod: Json | undefined, ofContainer: Json | undefined, wanted: Json,
    wantedOfPod: Json | undefined, wantedOfContainer: Json | undefined
  ]> = [
    ['by nothing', {}, undefined, undefined, {}, undefined, undefined],
    [
      'by fields', {}, { type: 'RuntimeDefault' }, { type: 'Localhost', localhostProfile: 'a/b.json' },
      { [OF_POD]: 'runtime/default', [`${OF_CONTAINER}main`]: 'localhost/a/b.json' }, { type: 'RuntimeDefault' },
      { type: 'Localhost', localhostProfile: 'a/b.json' }
    ],
    [
      'by annotations', { [OF_POD]: 'docker/default', [`${OF_CONTAINER}main`]: 'unconfined' }, undefined, undefined,
      { [OF_POD]: 'docker/default', [`${OF_CONTAINER}main`]: 'unconfined' }, { type: 'RuntimeDefault' },
      { type: 'Unconfined' }
    ],
    [
      'by both', { [OF_POD]: 'localhost/p' }, { type: 'Localhost', localhostProfile: 'p' }, { type: 'Unconfined' },
      { [OF_POD]: 'localhost/p', [`${OF_CONTAINER}main`]: 'unconfined' }, { type: 'Localhost', localhostProfile: 'p' },
      { type: 'Unconfined' }
    ]
  ]
  for (const [title, annotations, ofPod, ofContainer, wanted, wantedOfPod, wantedOfContainer] of cases) {
    const profile = (seccompProfile: Json | undefined): Json =>
      seccompProfile === undefined ? {} : { securityContext: { seccompProfile } }
    const { code, json, headers } = await server.post(`${PODS}?dryRun=All`, {
      metadata: { name: 'p', annotations },
      spec: { ...profile(ofPod), containers: [{ name: 'main', image: 'nginx', ...profile(ofContainer) }] }
    })
    t.equal(code, 201, title)
    t.same(json.metadata.annotations ?? {}, wanted, title)
    t.same(json.spec.securityContext.seccompProfile, wantedOfPod, title)
    t.same(json.spec.containers[0].securityContext?.seccompProfile, wantedOfContainer, title)
    t.equal(headers.warning, undefined, 'no warning remains')
  }
})
