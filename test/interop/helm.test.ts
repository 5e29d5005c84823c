/**
 * Real helm: a chart with a definition of its own, a hook, a look-up and what most charts have, under both releases.
 */
import t from 'tap'
import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Json } from '../build.js'
import { helmProgram } from '../tools.js'
import { Kubectl } from './kubectl.js'
import { ServerHere } from './server.js'

const CHART = {
  'Chart.yaml': { apiVersion: 'v2', name: 'shop', version: '0.1.0', kubeVersion: '>=1.24.0-0' },
  'values.yaml': { replicas: 2, color: 'red' },
  'crds/carts.yaml': {
    apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition',
    metadata: { name: 'carts.shop.example.com' },
    spec: {
      group: 'shop.example.com', scope: 'Namespaced', names: { plural: 'carts', singular: 'cart', kind: 'Cart' },
      versions: [{
        name: 'v1', served: true, storage: true,
        schema: { openAPIV3Schema: { type: 'object', properties: { size: { type: 'integer' } } } }
      }]
    }
  },
  'templates/hook.yaml': {
    apiVersion: 'v1', kind: 'ConfigMap', data: { ran: 'yes' },
    metadata: {
      name: '{{ .Release.Name }}-hook',
      annotations: { 'helm.sh/hook': 'pre-install,pre-upgrade', 'helm.sh/hook-delete-policy': 'before-hook-creation' }
    }
  },
  'templates/config.yaml': {
    apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: '{{ .Release.Name }}' },
    data: {
      color: '{{ .Values.color }}', version: '{{ .Capabilities.KubeVersion.Version }}',
      serves: '{{ .Capabilities.APIVersions.Has `policy/v1/PodDisruptionBudget` }}',
      found: '{{ (lookup `v1` `Namespace` `` `kube-system`).metadata.name }}'
    }
  },
  'templates/cart.yaml': `
apiVersion: shop.example.com/v1
kind: Cart
metadata: {name: '{{ .Release.Name }}'}
size: {{ .Values.replicas }}`,
  'templates/deployment.yaml': `
apiVersion: apps/v1
kind: Deployment
metadata: {name: '{{ .Release.Name }}'}
spec:
  replicas: {{ .Values.replicas }}
  selector: {matchLabels: {app: shop}}
  template:
    metadata: {labels: {app: shop}}
    spec:
      containers:
      - name: web
        image: nginx
        ports: [{containerPort: 80}]
        env: [{name: COLOR, value: '{{ .Values.color }}'}]`,
  'templates/service.yaml': {
    apiVersion: 'v1', kind: 'Service', metadata: { name: '{{ .Release.Name }}' },
    spec: { selector: { app: 'shop' }, ports: [{ port: 80 }] }
  },
  'templates/role.yaml': {
    apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name: '{{ .Release.Name }}-shop' },
    rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }]
  }
}

for (const [release, minor] of [['1.36', 36], ['1.24', 24]] as const) {
  t.test(`helm installs, upgrades, rolls back and uninstalls a chart with ${release} emulated`, async t => {
    const server = await ServerHere.start(t, ['--compat-names', `--emulated-version=${release}`])
    const helm = new Kubectl(t, { path: helmProgram(), minor, version: release }, server.tokenConfig())
    for (const [name, content] of Object.entries(CHART)) write(helm, `shop/${name}`, content)
    const get = async (path: string): Promise<Json> => JSON.parse((await server.ask(path)).body) as Json
    const config = async (): Promise<Json> => (await get('/api/v1/namespaces/team/configmaps/a')).data as Json
    const replicas = async (): Promise<unknown> =>
      (await get('/apis/apps/v1/namespaces/team/deployments/a'))['spec'].replicas as unknown
    const IN_TEAM = '--namespace=team'

    await helm.ok('install', 'a', './shop', IN_TEAM, '--create-namespace')
    t.match(
      await config(), { color: 'red', version: new RegExp(`^v1\\.${minor}\\.`), serves: 'true', found: 'kube-system' }
    )
    t.match(await get('/apis/shop.example.com/v1/namespaces/team/carts/a'), { size: 2 })
    t.match(await get('/api/v1/namespaces/team/configmaps/a-hook'), { data: { ran: 'yes' } })
    await helm.ok('upgrade', 'a', './shop', IN_TEAM, '--set=color=blue,replicas=3')
    t.match([(await config()).color, await replicas()], ['blue', 3])
    t.match(
      await helm.run(['upgrade', 'a', './shop', IN_TEAM, '--set=replicas=-1']), { code: 1, err: /spec\.replicas/ }
    )
    await helm.ok('rollback', 'a', '1', IN_TEAM)
    t.match([(await config()).color, await replicas()], ['red', 2])
    t.match(
      JSON.parse(await helm.ok('history', 'a', IN_TEAM, '--output=json')) as Json[],
      ['superseded', 'superseded', 'failed', 'deployed'].map(status => ({ status }))
    )
    await helm.ok('uninstall', 'a', IN_TEAM)
    t.equal((await server.ask('/apis/rbac.authorization.k8s.io/v1/clusterroles/a-shop')).code, 404)
    t.same((await get('/api/v1/namespaces/team/secrets')).items, [], 'nothing is left of the release')
  })
}

function write (helm: Kubectl, name: string, content: string | object): void {
  mkdirSync(dirname(helm.pathOf(name)), { recursive: true })
  helm.file(name, content)
}
