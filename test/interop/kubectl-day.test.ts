/**
 * A day's work with kubectl and a namespace full of typical objects, on both back ends. A small controller of
 * Deployments and simulated nodes play the other components; the test itself writes the status of budgets.
 */
import t from 'tap'
import { AppsV1Api, KubeConfig, PatchStrategy, PolicyV1Api, setHeaderOptions } from '@kubernetes/client-node'
import type { Test } from '../build.js'
import { startEtcd } from '../etcd-process.js'
import { DeploymentController } from './controller/deployments.js'
import { Nodes } from './controller/nodes.js'
import { Kubectl, programs } from './kubectl.js'
import { ServerHere } from './server.js'
import { SHOP } from './shop.js'

const IN_SHOP = '--namespace=shop'
const onEtcd = async (t: Test): Promise<ServerHere> => await ServerHere.start(
  t, [`--etcd-servers=${(await startEtcd(t)).url}`]
)

// The newest on one back end, the oldest on the other: their requests differ, but do not depend on the back end.
const found = programs().sort((a, b) => a.minor - b.minor)
const days = [[found.at(-1), 'the embedded store', ServerHere.start], [found[0], 'etcd', onEtcd]] as const

for (const [program, backEnd, start] of days) {
  if (program === undefined) throw new Error('there is no kubectl')
  t.test(`a day with kubectl ${program.version} on ${backEnd}`, async t => {
    const server = await start(t)
    const config = new KubeConfig()
    config.loadFromFile(server.tokenConfig())
    const nodes = new Nodes(config)
    const controller = new DeploymentController(config, 'shop', 'one')
    t.teardown(async () => {
      await controller.stop()
      await nodes.stop()
    })
    await nodes.start('node-1', 'node-2')
    const kubectl = new Kubectl(t, program, server.tokenConfig())
    const ok = (...args: string[]): Promise<string> => kubectl.ok(...args, IN_SHOP)
    const shop = kubectl.file('shop.yaml', SHOP)
    const rolledOut = async (): Promise<void> => {
      t.match(await ok('rollout', 'status', 'deployment/web', '--timeout=50s'), /"web" successfully rolled out$/)
    }
    const image = (): Promise<string> =>
      ok('get', 'deployment', 'web', '--output=jsonpath={.spec.template.spec.containers[0].image}')

    await kubectl.ok('create', 'namespace', 'shop')
    await controller.start()

    await t.test('applies, and has nothing left to apply', async t => {
      t.equal((await ok('apply', `--filename=${shop}`)).split('\n').filter(line => line.endsWith(' created')).length, 9)
      t.match(await kubectl.run(['diff', `--filename=${shop}`, IN_SHOP]), { code: 0, out: '' })
      const again = await ok('apply', `--filename=${shop}`)
      for (const unchanged of [
        'deployment.apps/web', 'service/web', 'ingress.networking.orch.io/web', 'job.batch/migrate',
        'persistentvolumeclaim/uploads', 'configmap/settings'
      ]) {
        t.match(again, `${unchanged} unchanged`)
      }
      t.equal(
        (await ok('apply', '--server-side', `--filename=${shop}`)).split('\n').filter(line =>
          line.endsWith(' serverside-applied')).length,
        9
      )
    })

    await t.test('waits, and sees what runs', async t => {
      t.match(await ok('wait', '--for=condition=Available', 'deployment/web', '--timeout=50s'), /condition met/)
      await rolledOut()
      t.match(await ok('get', 'deployment,statefulset,ingress,pvc,pdb,cronjob,job', '--output=wide'), [
        'deployment\\.apps/web +2/2 +2 +2 +\\S+ +web +shop/web:1\\.0 +app=web',
        'statefulset\\.apps/db +0/1 +\\S+ +db +postgres:14',
        'ingress\\.networking\\.orch\\.io/web +nginx +shop\\.example\\.com +80 ',
        'persistentvolumeclaim/uploads +Pending +shared', 'poddisruptionbudget\\.policy/web +1 +N/A +0 ',
        'cronjob\\.batch/report +0 6 \\* \\* 1-5 +False +0 +<none>', 'job\\.batch/migrate +0/1 '
      ].reduce((all, line) => new RegExp(`${all.source}[^]*${line}`), /^/))
      t.match(await ok('get', 'pods', '--output=wide'), /^web-\w+-0 +1\/1 +Running +0 +\S+ +10\.1\.0\.1 +node-1 /m)
    })

    await t.test('describes everything there is', async t => {
      for (const [what, ...told] of [
        [
          'deployment/web', /^Replicas: +2 desired \| 2 updated \| 2 total \| 2 available \| 0 unavailable$/m,
          /^ {2}Available +True +MinimumReplicasAvailable$/m, /^NewReplicaSet: +web-\w+ \(2\/2 replicas created\)$/m
        ],
        ['statefulset/db', /^Replicas: +1 desired \| 0 total$/m, /^ {2}Capacity: +1Gi$/m],
        ['service/web', /^IP: +10\.0\.0\.\d+$/m, /^Port: +http {2}80\/TCP$/m, /^TargetPort: +http\/TCP$/m],
        ['ingress/web', /^ {2}Ingress Class Name: +nginx$/m],
        ['job/migrate', /^Pods Statuses: +0 (?:Running|Active)/m, /controller-uid=/],
        ['cronjob/report', /^Concurrency Policy: +Forbid$/m, /^Failed Job History Limit: +1$/m],
        ['pdb/web', /^Min available: +1$/m], ['pvc/uploads', /^Finalizers: +\[orch\.io\/pvc-protection\]$/m],
        ['configmap/settings', /^colour:\n----\nred$/m], ['namespace/shop', /^Status: +Active$/m],
        ['node/node-1', /^ {2}cpu +200m \(5%\)/m, /^Unschedulable: +false$/m]
      ] as const) {
        const out = await ok('describe', what)
        for (const line of told) t.match(out, line, what)
      }
    })

    await t.test('edits, rolls forward and back, and scales', async t => {
      const editor = kubectl.file('editor.sh', '#!/bin/sh\nexec sed -i "s|shop/web:1.0|shop/web:1.1|" "$1"\n', 0o755)
      t.match(
        await kubectl.run(['edit', 'deployment', 'web', IN_SHOP], { EDITOR: editor, KUBE_EDITOR: editor }),
        { code: 0, out: /edited/ }
      )
      await rolledOut()
      t.match(await ok('rollout', 'history', 'deployment/web'), /^1 +<none>\n2 +<none>$/m)
      t.match(await ok('rollout', 'undo', 'deployment/web'), /rolled back/)
      t.equal(await image(), 'shop/web:1.0')
      await rolledOut()
      t.match(await ok('rollout', 'history', 'deployment/web'), /^2 +<none>\n3 +<none>$/m)
      await ok('rollout', 'restart', 'deployment/web')
      await ok('set', 'image', 'deployment/web', 'web=shop/web:1.2')
      await ok('scale', 'deployment/web', '--replicas=3')
      await rolledOut()
      t.match(await ok('get', 'replicasets', '--selector=app=web'), /^web-\w+ +3 +3 +3 /m)
      await ok('scale', 'statefulset/db', '--replicas=2', '--current-replicas=1')
      t.match(
        await kubectl.refused('scale', 'statefulset/db', '--replicas=5', '--current-replicas=1', IN_SHOP),
        /Expected replicas to be 1, was 2/
      )
      await ok('autoscale', 'deployment', 'web', '--max=5', '--cpu-percent=70')
      t.match(await ok('get', 'hpa', 'web'), /^web +Deployment\/web +<unknown>\/70% +1 +5 +0 /m)
      t.match(
        await ok('describe', 'hpa', 'web'), /resource cpu on pods +\(as a percentage of request\): +<unknown> \/ 70%/
      )
    })

    await t.test('drains a node of what its budget lets go', async t => {
      const budgets = config.makeApiClient(PolicyV1Api)
      const budget = (disruptionsAllowed: number): Promise<unknown> => budgets.patchNamespacedPodDisruptionBudgetStatus(
        {
          namespace: 'shop',
          name: 'web',
          body: {
            status: {
              observedGeneration: 9,
              currentHealthy: 3,
              desiredHealthy: 3 - disruptionsAllowed,
              expectedPods: 3,
              disruptionsAllowed
            }
          }
        },
        setHeaderOptions('Content-Type', PatchStrategy.MergePatch))
      await budget(0)
      const refused = await kubectl.refused('drain', 'node-1', '--ignore-daemonsets', '--force', '--timeout=2s')
      t.match(
        refused,
        /error when evicting (?:pod|pods\/)"web-\S+" .*will retry after 5s\): Cannot evict pod as it would violate the pod's disruption budget\./
      )
      t.match(await kubectl.ok('get', 'node', 'node-1'), /^node-1 +Ready,SchedulingDisabled /m)
      await budget(3)
      const drained = await kubectl.ok('drain', 'node-1', '--ignore-daemonsets', '--force', '--timeout=50s')
      t.equal(drained.match(/^pod\/web-\S+ evicted$/gm)?.length, 3, drained)
      await rolledOut()
      t.equal(
        (await ok(
          'get', 'pods', '--selector=app=web', '--field-selector=spec.nodeName=node-2', '--output=name'
        )).split('\n').length,
        3
      )
      t.match(await kubectl.ok('uncordon', 'node-1'), /uncordoned/)
      await kubectl.ok('taint', 'node', 'node-1', 'for=test:NoSchedule')
      t.match(await kubectl.ok('describe', 'node', 'node-1'), /^Taints: +(?:\S+\n +)*for=test:NoSchedule$/m)
    })

    await t.test('deletes what it made, and the namespace with all that is left', async t => {
      await ok('delete', 'deployment,ingress,job,cronjob', '--all')
      t.equal(await ok('get', 'deployment,ingress,job,cronjob', '--output=name'), '')
      t.match(await kubectl.json('get', 'pvc', 'uploads', IN_SHOP), {
        metadata: { finalizers: ['orch.io/pvc-protection'] }
      })
      await ok('patch', 'pvc', 'uploads', '--type=merge', '--patch={"metadata":{"finalizers":null}}')
      t.match(await kubectl.ok('delete', 'namespace', 'shop'), /"shop" deleted/)
      t.match(await kubectl.refused('get', 'namespace', 'shop'), /NotFound/)
      t.same((await config.makeApiClient(AppsV1Api).listStatefulSetForAllNamespaces()).items, [])
    })
  })
}
