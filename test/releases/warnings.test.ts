/** Warnings about built-in types that release 1.36 gives, and 1.24 does not. */
import t from 'tap'
import { build, type Json } from '../build.js'

const container = { name: 'c', image: 'i' }
const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments'
const WARNED: ReadonlyArray<readonly [title: string, path: string, object: Json, warnings: readonly RegExp[]]> = [
  ['names that are no DNS labels', '/api/v1/namespaces/default/pods', { metadata: { name: 'a.b' }, spec: { containers: [container] } }, [/metadata\.name: this is used in Pod names/]],
  ['pods', '/api/v1/namespaces/default/pods', {
    metadata: { name: 'p' },
    spec: {
      containers: [{ ...container, ports: [{ containerPort: 1, hostIP: '10.0.0.1' }, { containerPort: 1, name: 'x' }] }], volumes: [{ name: 'v', cephfs: { monitors: ['m'] } }],
      topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'a', whenUnsatisfiable: 'ScheduleAnyway' }],
      affinity: { podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm: { topologyKey: 'a' } }] } }
    }
  }, [/volumes\[0\]\.cephfs: deprecated/, /topologySpreadConstraints\[0\]\.labelSelector: a null/, /podAntiAffinity\.preferred.*\[0\]\.podAffinityTerm\.labelSelector: a null/, /ports\[0\]: hostIP set without/, /ports\[1\]: duplicate port/]],
  ['templates', DEPLOYMENTS, { metadata: { name: 'd.e' }, spec: { selector: { matchLabels: { a: 'b' } }, template: { metadata: { labels: { a: 'b' } }, spec: { containers: [container], terminationGracePeriodSeconds: -1 } } } },
    [/metadata\.name: this is used/, /spec\.template\.spec\.terminationGracePeriodSeconds: must be >= 0/]],
  ['headless services', '/api/v1/namespaces/default/services', { metadata: { name: 'h' }, spec: { clusterIP: 'None', externalIPs: ['192.0.2.1'], ports: [{ port: 1 }], sessionAffinity: 'ClientIP' } },
    [/spec\.externalIPs is ignored when spec\.clusterIP/, /spec\.sessionAffinity is ignored/]],
  ['services', '/api/v1/namespaces/default/services', { metadata: { name: 's' }, spec: { externalIPs: ['192.0.2.1'], externalName: 'a.b', ports: [{ port: 1 }], trafficDistribution: 'PreferClose' } },
    [/spec\.externalIPs is deprecated/, /spec\.externalName is ignored/, /PreferSameZone/]]
]

for (const [title, path, object, warnings] of WARNED) {
  t.test(`${title} are warned of`, async t => {
    const made = await (await build(t, { emulatedVersion: '1.36' })).post(path, object)
    t.equal(made.code, 201, made.body)
    const given = made.headers['warning'] as string[] | undefined ?? []
    t.equal(given.length, warnings.length, given.join('\n'))
    for (const warning of warnings) t.ok(given.some(text => warning.test(text)), String(warning))
    const before = (await (await build(t)).post(path, object)).headers['warning'] as string[] | undefined ?? []
    t.notOk(before.some(text => warnings.some(warning => warning.test(text))))
  })
}
