/**
 * Programs that know the public project's names, as they are, against a server with `--compat-names`; what they wrote
 * is read under our names too.
 */
import t, { type Test } from 'tap'
import {
  ApiextensionsV1Api, AuthorizationV1Api, CertificatesV1Api, CoordinationV1Api, CoreV1Api, KubeConfig, makeInformer,
  PatchStrategy, RbacAuthorizationV1Api, setHeaderOptions, StorageV1Api, V1MicroTime, type V1Lease, type V1Role
} from '@kubernetes/client-node'
import type { Json } from '../build.js'
import { REQUEST } from '../certificate-requests.js'
import { Kubectl, programs } from './kubectl.js'
import { ask, ServerHere, until } from './server.js'

const STOCK = 'rbac.authorization.k8s.io'
const OURS = 'rbac.authorization.orch.io'
/** Of a client with our names. */
const OWN = 'application/vnd.orch.protobuf;q=0.1, application/json'
const USERS = 'root-token,root,1,system:masters\nann-token,ann,2\ninterop-token,health,3,system:masters\n'

async function start (t: Test): Promise<ServerHere> {
  const folder = t.testdir({ tokens: USERS })
  return await ServerHere.start(
    t,
    [
      '--compat-names', '--authorization-mode=RBAC,Node', `--token-auth-file=${folder}/tokens`,
      '--service-cluster-ip-range=10.0.0.0/24'
    ]
  )
}

const access = (rules: string, subjects: string): string => `
apiVersion: ${STOCK}/v1
kind: Role
metadata: {name: reader, namespace: default}
rules: [${rules}]
---
apiVersion: ${STOCK}/v1
kind: RoleBinding
metadata: {name: readers, namespace: default}
roleRef: {apiGroup: ${STOCK}, kind: Role, name: reader}
subjects: [${subjects}]
---
apiVersion: ${STOCK}/v1
kind: ClusterRole
metadata: {name: role-reader}
rules: [{apiGroups: [${STOCK}], resources: [roles], verbs: [get]}]
---
apiVersion: ${STOCK}/v1
kind: ClusterRoleBinding
metadata: {name: role-readers}
roleRef: {apiGroup: ${STOCK}, kind: ClusterRole, name: role-reader}
subjects: [{apiGroup: ${STOCK}, kind: User, name: ann}]
`
const user = (name: string): string => `{apiGroup: ${STOCK}, kind: User, name: ${name}}`
const rule = (resource: string): string => `{apiGroups: [''], resources: [${resource}], verbs: [get, list]}`

const workload = (replicas: number): string => `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default, labels: {kubernetes.io/os: linux, app.kubernetes.io/name: web}}
spec:
  replicas: ${replicas}
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      nodeSelector: {kubernetes.io/os: linux}
      tolerations: [{key: node-role.kubernetes.io/control-plane, operator: Exists}]
      topologySpreadConstraints:
      - {maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: ScheduleAnyway}
      containers: [{name: kube-proxy, image: registry.k8s.io/pause, args: [kube-system, kubernetes.io/os]}]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: mine, namespace: default}
data: {kube-system: kubernetes.io/os}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  names: {kind: Widget, plural: widgets}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        x-kubernetes-preserve-unknown-fields: true
        properties: {spec: {type: object, properties: {port: {x-kubernetes-int-or-string: true}}}}
`

for (const program of programs()) {
  t.test(`kubectl ${program.version}`, async t => {
    const server = await start(t)
    const root = new Kubectl(t, program, server.kubeconfig('root', { token: 'root-token' }))
    const ann = new Kubectl(t, program, server.kubeconfig('ann', { token: 'ann-token' }))
    const stored = async (path: string): Promise<Json> =>
      JSON.parse((await ask(`${server.url}${path}`, { ca: server.ca, token: 'root-token', accept: OWN })).body) as Json
    const ours = (path: string): Promise<Json> => stored(`/apis/${OURS}/v1/${path}`)

    await t.test('roles and bindings', async t => {
      const reconcile = async (rules: string[], names: string[], ...flags: string[]): Promise<string> =>
        await root.ok(
          'auth', 'reconcile',
          `--filename=${root.file('access.yaml', access(rules.map(rule).join(), names.map(user).join()))}`, ...flags
        )
      const resources = async (): Promise<string[]> => {
        const { rules } = await ours('namespaces/default/roles/reader')
        return [...new Set<string>(rules.flatMap((each: Json) => each['resources']))]
      }
      const subjects = async (): Promise<string[]> =>
        (await ours('namespaces/default/rolebindings/readers'))['subjects'].map((each: Json) => each['name'])
      t.equal((await reconcile(['configmaps'], ['ann'])).match(/ reconciled$/gm)?.length, 4)
      t.match(await ours('namespaces/default/rolebindings/readers'), {
        apiVersion: `${OURS}/v1`, roleRef: { apiGroup: OURS }, subjects: [{ apiGroup: OURS, name: 'ann' }]
      })
      await reconcile(['services'], ['bob'])
      t.strictSame(
        [await resources(), await subjects()], [['configmaps', 'services'], ['ann', 'bob']],
        'missing rules and subjects are added'
      )
      await reconcile(['configmaps'], ['ann'], '--remove-extra-permissions', '--remove-extra-subjects')
      t.strictSame(
        [await resources(), await subjects()], [['configmaps'], ['ann']], 'extra rules and subjects are removed'
      )

      const may = async (...args: string[]): Promise<string> => (await ann.run(['auth', 'can-i', ...args])).out.trim()
      for (const [args, answer] of [
        [['list', 'configmaps'], 'yes'], [['delete', 'configmaps'], 'no'], [['get', `roles.${STOCK}`], 'yes'],
        [['get', `rolebindings.${STOCK}`], 'no'], [['get', '/version'], 'yes']
      ] as const) t.equal(await may(...args), answer, args.join(' '))
      t.match(await may('--list'), new RegExp(`^roles\\.${STOCK} `, 'm'))
      t.match(
        await ann.refused('get', 'rolebindings', '--namespace=kube-system'),
        new RegExp(`cannot list resource "rolebindings" in API group "${STOCK}" in the namespace "kube-system"`)
      )
      t.equal(
        await root.ok(
          'auth', 'can-i', 'list', 'pods', '--all-namespaces',
          '--as=system:serviceaccount:kube-system:namespace-controller'
        ),
        'yes'
      )
    })

    await t.test('discovery and documents', async t => {
      const types = await root.ok('api-resources', '--output=wide')
      t.match(types, new RegExp(`^roles .*${STOCK}`, 'm'))
      t.notMatch(types, 'orch.io')
      t.match(await root.ok('explain', 'roles.rules'), new RegExp(STOCK))
      t.match(await root.ok('explain', 'crd.spec.versions.schema.openAPIV3Schema'), 'x-kubernetes-int-or-string')
      t.match(await root.ok('get', 'namespaces'), /^kube-system +Active/m)
      t.match(await root.ok('get', 'services'), /^kubernetes +ClusterIP/m)
      t.equal(
        await root.ok('get', 'configmap', 'kube-root-ca.crt', '--namespace=kube-public', '--output=name'),
        'configmap/kube-root-ca.crt'
      )
      t.match(
        await root.ok('describe', 'clusterrole', 'system:kube-scheduler'),
        /leases\.coordination\.k8s\.io +\[] +\[kube-scheduler]/
      )
      t.equal(
        await root.ok('get', 'namespaces', '--selector=kubernetes.io/metadata.name in (kube-system)', '--output=name'),
        'namespace/kube-system'
      )
      t.equal(
        await root.ok('get', 'namespaces', '--field-selector=metadata.name=kube-public', '--output=name'),
        'namespace/kube-public'
      )
    })

    await t.test('apply, diff, edit, patch, label, dry runs, watch', async t => {
      const file = root.file('workload.yaml', workload(1))
      await root.ok('apply', `--filename=${file}`)
      await root.ok('wait', '--for=condition=Established', 'crd/widgets.example.com')
      for (const line of (await root.ok('apply', `--filename=${file}`)).split('\n')) t.match(line, /unchanged$/)
      t.equal(await root.ok('diff', `--filename=${file}`), '')
      t.match(
        (await root.run(['diff', `--filename=${root.file('two.yaml', workload(2))}`])).out, /^\+ {2}replicas: 2$/m
      )
      const deployment = await stored('/apis/apps/v1/namespaces/default/deployments/web')
      t.match(deployment, {
        metadata: { labels: { 'orch.io/os': 'linux', 'app.kubernetes.io/name': 'web' } },
        spec: {
          template: {
            spec: {
              nodeSelector: { 'orch.io/os': 'linux' },
              tolerations: [{ key: 'node-role.orch.io/control-plane' }],
              topologySpreadConstraints: [{ topologyKey: 'topology.orch.io/zone' }],
              containers: [
                { name: 'kube-proxy', image: 'registry.k8s.io/pause', args: ['kube-system', 'kubernetes.io/os'] }
              ]
            }
          }
        }
      })
      t.strictSame((await stored('/api/v1/namespaces/default/configmaps/mine'))['data'], {
        'kube-system': 'kubernetes.io/os'
      })
      t.match(
        await stored('/apis/apiextensions.orch.io/v1/customresourcedefinitions/widgets.example.com'),
        {
          spec: {
            versions: [
              {
                schema: {
                  openAPIV3Schema: {
                    'x-orch-preserve-unknown-fields': true,
                    properties: { spec: { properties: { port: { 'x-orch-int-or-string': true } } } }
                  }
                }
              }
            ]
          }
        }
      )

      await root.ok('apply', '--server-side', '--force-conflicts', `--filename=${file}`)
      const shown = program.minor > 20 ? ['--show-managed-fields'] : []
      const { managedFields } = (await root.json('get', 'deployment', 'web', ...shown))['metadata']
      const isApplied = ({ manager, operation }: Json): boolean => manager === 'kubectl' && operation === 'Apply'
      t.match(managedFields.find(isApplied), {
        fieldsV1: { 'f:metadata': { 'f:labels': { 'f:kubernetes.io/os': {} } } }
      })
      await root.ok('label', 'deployment', 'web', 'kubernetes.io/os-', 'topology.kubernetes.io/zone=z')
      await root.ok(
        'patch',
        'deployment',
        'web',
        '--type=json',
        '--patch=[{"op":"test","path":"/metadata/labels/topology.kubernetes.io~1zone","value":"z"},{"op":"add",' +
        '"path":"/metadata/labels/kubernetes.io~1arch","value":"a"}]'
      )
      await root.ok(
        'patch', 'deployment', 'web',
        '--patch={"spec":{"template":{"spec":{"nodeSelector":{"kubernetes.io/os":null,"kubernetes.io/arch":"a"}}}}}'
      )
      t.strictSame(
        (await root.json('get', 'deployment', 'web'))['spec'].template.spec.nodeSelector, { 'kubernetes.io/arch': 'a' }
      )
      t.equal(
        (await root.run(
          ['edit', 'deployment', 'web'],
          { KUBE_EDITOR: 'sed -i s#topology.kubernetes.io/zone:.*#topology.kubernetes.io/zone:\\ edited#' }
        )).code,
        0
      )
      t.match((await stored('/apis/apps/v1/namespaces/default/deployments/web'))['metadata'].labels, {
        'topology.orch.io/zone': 'edited', 'orch.io/arch': 'a'
      })
      await root.ok('rollout', 'restart', 'deployment/web')
      t.match(
        await root.ok('create', 'role', 'dry', '--verb=get', '--resource=pods', '--dry-run=server', '--output=yaml'),
        new RegExp(`apiVersion: ${STOCK}/v1`)
      )
      const watch = root.begin(t, 'get', 'roles', '--watch', '--output-watch-events')
      await watch.shows(/ADDED +reader/)
      await root.ok('create', 'role', 'made', '--verb=get', '--resource=pods')
      await watch.shows(/ADDED +made/)
      await root.ok('delete', 'role', 'made')
      await watch.shows(/DELETED +made/)
    })

    await t.test('tokens, certificates, nodes', async t => {
      await root.ok('create', 'serviceaccount', 'robot')
      if (program.minor >= 24) {
        const token = await root.ok('create', 'token', 'robot')
        t.match(JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()), {
          sub: 'system:serviceaccount:default:robot', 'kubernetes.io': { namespace: 'default' }
        })
        const robot = new Kubectl(t, program, server.kubeconfig('robot', { token }))
        t.match(await robot.refused('get', 'pods'), /User "system:serviceaccount:default:robot" cannot list/)
      }
      const request = {
        apiVersion: 'certificates.k8s.io/v1',
        kind: 'CertificateSigningRequest',
        metadata: { name: 'ann' },
        spec: { request: REQUEST, signerName: 'kubernetes.io/kube-apiserver-client', usages: ['client auth'] }
      }
      await root.ok('create', `--filename=${root.file('request.json', request)}`)
      await root.ok('certificate', 'approve', 'ann')
      t.match(await root.ok('get', 'csr', 'ann'), /kubernetes\.io\/kube-apiserver-client .*Approved/)
      t.equal(
        (await stored('/apis/certificates.orch.io/v1/certificatesigningrequests/ann'))['spec'].signerName,
        'orch.io/orch-apiserver-client'
      )

      const node = {
        apiVersion: 'v1',
        kind: 'Node',
        metadata: { name: 'node-1', labels: { 'node-role.kubernetes.io/worker': '' } }
      }
      await root.ok('create', `--filename=${root.file('node.json', node)}`)
      t.match(await root.ok('get', 'nodes'), /^node-1 +\S+ +worker /m)
      const pod = {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'one', labels: { app: 'one' } },
        spec: { nodeName: 'node-1', terminationGracePeriodSeconds: 0, containers: [{ name: 'a', image: 'a' }] }
      }
      await root.ok('create', `--filename=${root.file('pod.json', pod)}`)
      const { spec } = await root.json('get', 'pod', 'one')
      t.match(spec.containers[0].volumeMounts, [
        { name: /^kube-api-access-/, mountPath: '/var/run/secrets/kubernetes.io/serviceaccount' }
      ])
      t.match(spec.volumes[0].projected.sources, [{}, { configMap: { name: 'kube-root-ca.crt' } }, {}])
      t.match(spec.tolerations, [{ key: 'node.kubernetes.io/not-ready' }, { key: 'node.kubernetes.io/unreachable' }])
      await root.ok('drain', 'node-1', '--force', '--timeout=50s')
      t.match(await root.ok('get', 'nodes'), /SchedulingDisabled/)
      t.match(
        await root.ok('describe', 'node', 'node-1'),
        /^Taints: +node\.kubernetes\.io\/unschedulable:NoSchedule|^Unschedulable: +true/m
      )
    })
  })
}

const patchType = (type: string) => setHeaderOptions('Content-Type', type)

t.test('typed clients for Node', async t => {
  const server = await start(t)
  const config = new KubeConfig()
  config.loadFromFile(server.kubeconfig('root', { token: 'root-token' }))
  const rbac = config.makeApiClient(RbacAuthorizationV1Api)
  const body: V1Role = {
    metadata: { name: 'reader', labels: { 'kubernetes.io/os': 'x' } },
    rules: [{ apiGroups: [STOCK], resources: ['roles'], verbs: ['get'] }]
  }
  const informer = makeInformer<V1Role>(
    config, `/apis/${STOCK}/v1/namespaces/default/roles`,
    async () => await rbac.listNamespacedRole({ namespace: 'default' })
  )
  t.teardown(() => informer.stop())
  const seen: string[] = []
  for (const event of ['add', 'update', 'delete'] as const) {
    informer.on(event, ({ metadata, rules }) => {
      seen.push(
        `${event} ${metadata?.name ?? ''} ${rules?.[0]?.apiGroups?.join() ?? ''} ` +
        `${Object.keys(metadata?.labels ?? {}).join()}`
      )
    })
  }
  await informer.start()
  t.match(await rbac.createNamespacedRole({ namespace: 'default', body }), body)
  await rbac.patchNamespacedRole(
    { namespace: 'default', name: 'reader', body: { metadata: { labels: { 'kubernetes.io/arch': 'y' } } } },
    patchType(PatchStrategy.MergePatch)
  )
  await rbac.deleteNamespacedRole({ namespace: 'default', name: 'reader' })
  await until(() => `three events, not ${seen.join('; ')}`, () => seen.length === 3)
  t.strictSame(seen, [
    `add reader ${STOCK} kubernetes.io/os`, `update reader ${STOCK} kubernetes.io/arch,kubernetes.io/os`,
    `delete reader ${STOCK} kubernetes.io/arch,kubernetes.io/os`
  ])
  t.ok((await rbac.listClusterRole()).items.some(({ metadata }) => metadata?.name === 'system:kube-controller-manager'))

  t.test('a leader is elected by a lease', async t => {
    const leases = config.makeApiClient(CoordinationV1Api)
    const at = { namespace: 'kube-system', name: 'kube-scheduler' }
    const lease = (holderIdentity: string, more: V1Lease = {}): V1Lease => ({
      ...more,
      metadata: { ...more.metadata, name: at.name },
      spec: { holderIdentity, leaseDurationSeconds: 15, renewTime: new V1MicroTime() }
    })
    const first = await leases.createNamespacedLease({ namespace: at.namespace, body: lease('a') })
    const held = await leases.replaceNamespacedLease({ ...at, body: lease('b', first) })
    await t.rejects(leases.replaceNamespacedLease({ ...at, body: lease('c', first) }), { code: 409 })
    t.equal((await leases.readNamespacedLease(at)).spec?.holderIdentity, 'b')
    t.equal(held.metadata?.namespace, 'kube-system')
  })

  t.test('other groups', async t => {
    t.match(
      await config.makeApiClient(AuthorizationV1Api).createSelfSubjectAccessReview({
        body: {
          spec: { resourceAttributes: { group: STOCK, resource: 'roles', verb: 'get', namespace: 'kube-system' } }
        }
      }),
      { apiVersion: 'authorization.k8s.io/v1', status: { allowed: true } }
    )
    t.match(
      await config.makeApiClient(StorageV1Api).createStorageClass({
        body: {
          metadata: { name: 's', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
          provisioner: 'kubernetes.io/no-provisioner',
          allowedTopologies: [{ matchLabelExpressions: [{ key: 'topology.kubernetes.io/zone', values: ['a'] }] }]
        }
      }),
      {
        provisioner: 'kubernetes.io/no-provisioner',
        allowedTopologies: [{ matchLabelExpressions: [{ key: 'topology.kubernetes.io/zone' }] }]
      }
    )
    t.strictSame((await config.makeApiClient(CertificatesV1Api).listCertificateSigningRequest()).items, [])
    t.strictSame((await config.makeApiClient(ApiextensionsV1Api).listCustomResourceDefinition()).items, [])
    t.equal(
      (await config.makeApiClient(CoreV1Api)
        .readNamespace({ name: 'kube-system' })).metadata?.labels?.['kubernetes.io/metadata.name'],
      'kube-system'
    )
  })
})
