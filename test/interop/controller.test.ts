/**
 * A third-party controller in two instances, one of which leads, over a server that is killed and a store that is cut
 * off: it creates everything for many Deployments exactly once. `DEPLOYMENTS=1000` creates that many.
 */
import t from 'tap'
import { AppsV1Api, CoreV1Api, KubeConfig } from '@kubernetes/client-node'
import { Line, startEtcd } from '../etcd-process.js'
import type { Test } from '../build.js'
import { DeploymentController } from './controller/deployments.js'
import { nameOf, ownerOf, uidOf } from './controller/follower.js'
import { RunningServer, until } from './server.js'

const MANY = Number(process.env.DEPLOYMENTS ?? 24)
const REPLICAS = 2
/** Milliseconds; for all the work of one part. */
const PATIENCE = Math.max(120_000, MANY * 1000)
const namespace = 'default'

interface Faults { readonly server: RunningServer, readonly faults: ReadonlyArray<() => Promise<void>> }

async function killed (server: RunningServer): Promise<void> {
  await server.stop('SIGKILL')
  await server.start()
}

async function onEmbedded (t: Test): Promise<Faults> {
  const server = await RunningServer.start(t)
  return { server, faults: [() => killed(server), () => killed(server)] }
}

async function onEtcd (t: Test): Promise<Faults> {
  const etcd = await startEtcd(t)
  const line = await Line.to(t, etcd.port)
  const server = await RunningServer.start(t, [`--etcd-servers=http://127.0.0.1:${line.port}`])
  const cut = async (): Promise<void> => {
    line.refuse(true)
    await until('requests to fail without the store', async () =>
      (await server.ask('/api/v1/namespaces/default/pods/any')).code >= 500)
    line.refuse(false)
  }
  return { server, faults: [cut, () => killed(server)] }
}

for (const [backEnd, start] of [['the embedded store', onEmbedded], ['etcd', onEtcd]] as const) {
  t.test(`a controller makes ${MANY} deployments come true on ${backEnd}, whatever ends in between`, {
    timeout: 2 * PATIENCE + 60_000
  }, async t => {
    const { server, faults } = await start(t)
    const config = new KubeConfig()
    config.loadFromFile(server.tokenConfig())
    const [apps, core] = [config.makeApiClient(AppsV1Api), config.makeApiClient(CoreV1Api)]
    const controllers = ['one', 'other'].map(identity => new DeploymentController(config, namespace, identity))
    t.teardown(async () => { for (const one of controllers) await one.stop() })
    for (const one of controllers) await one.start()

    const names = Array.from({ length: MANY }, (_, at) => `app-${at}`)
    const queue = names.values()
    const make = async (): Promise<void> => {
      for (const name of queue) {
        const labels = { app: name }
        await apps.createNamespacedDeployment({
          namespace,
          body: {
            metadata: { name },
            spec: {
              replicas: REPLICAS,
              selector: { matchLabels: labels },
              template: { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'nginx' }] } }
            }
          }
        })
      }
    }
    await Promise.all([make(), make(), make(), make()])

    const wanted = MANY * (1 + REPLICAS)
    const made = (): Map<string, string> => new Map(controllers.flatMap(one => [...one.made]))
    for (const [index, fault] of faults.entries()) {
      await until(
        () => `part of the work, ${made().size} of ${wanted} are made`,
        () => made().size >= wanted * (index + 1) / (faults.length + 1), PATIENCE
      )
      await fault()
    }
    await until(
      () =>
        'all deployments to be told done, ' +
        `${controllers[0]?.deployments.list().filter(({ status }) => status?.updatedReplicas === REPLICAS).length} are`,
      async () => {
        const { items } = await apps.listNamespacedDeployment({ namespace }).catch(() => ({ items: [] }))
        return items.length === MANY &&
        items.every(({ status, metadata }) =>
          status?.updatedReplicas === REPLICAS && status.observedGeneration === metadata?.generation)
      }, PATIENCE
    )

    const [deployments, sets, pods] = [
      (await apps.listNamespacedDeployment({ namespace })).items,
      (await apps.listNamespacedReplicaSet({ namespace })).items, (await core.listNamespacedPod({ namespace })).items
    ]
    t.strictSame(deployments.map(nameOf).sort(), [...names].sort())
    t.strictSame([sets.length, pods.length], [MANY, MANY * REPLICAS])
    const owners = (owned: typeof sets | typeof pods): string[] => owned.map(one => ownerOf(one)?.uid ?? '')
    t.strictSame(new Set(owners(sets)), new Set(deployments.map(uidOf)), 'one set for each')
    t.strictSame(
      owners(pods).sort(), sets.flatMap(set => Array.from({ length: REPLICAS }, () => uidOf(set))).sort(),
      'as many pods of each set as are wanted'
    )
    const there = new Map([...sets, ...pods].map(one => [nameOf(one), uidOf(one)]))
    t.strictSame(
      [...made()].filter(([name, uid]) => there.get(name) !== uid), [], 'acknowledged objects exist, with their uids'
    )
    for (const { sets: seenSets, pods: seenPods } of controllers) {
      await until('both informers to have seen all', () =>
        seenSets.list().length === MANY && seenPods.list().length === MANY * REPLICAS)
      const seen = [...seenSets.history, ...seenPods.history]
      t.strictSame(seen.filter(([type]) => type === 'delete'), [], 'nothing was seen to go')
      t.strictSame(
        seen.map(([, name, uid]) => `${name} ${uid}`).sort(), [...there].map(([name, uid]) => `${name} ${uid}`).sort(),
        'everything was seen to come, once'
      )
    }

    const [first] = controllers.filter(({ leadership }) => leadership.leads)
    await (first ?? controllers[0])?.stop()
    await apps.patchNamespacedDeploymentScale({
      namespace, name: 'app-0', body: [{ op: 'replace', path: '/spec/replicas', value: REPLICAS + 1 }]
    })
    await until('the other instance to go on', async () =>
      (await core.listNamespacedPod({ namespace, labelSelector: 'app=app-0' })).items.length === REPLICAS + 1)
  })
}
