/**
 * Plays the nodes, as far as the server can tell: binds each pod to a schedulable node, reports it ready, and removes
 * it when it is deleted.
 */
import {
  PatchStrategy, setHeaderOptions, CoreV1Api, type V1Pod, type KubeConfig, type KubernetesObject, type V1Node
} from '@kubernetes/client-node'
import { Follower, nameOf } from './follower.js'
import { WorkQueue } from './work-queue.js'

const MERGE = setHeaderOptions('Content-Type', PatchStrategy.MergePatch)
const keyOf = ({ metadata }: KubernetesObject): string => `${metadata?.namespace}/${metadata?.name}`

export class Nodes {
  readonly #core: CoreV1Api
  readonly #pods: Follower<V1Pod>
  readonly #nodes: Follower<V1Node>
  readonly #queue: WorkQueue

  constructor (config: KubeConfig) {
    const core = this.#core = config.makeApiClient(CoreV1Api)
    this.#queue = new WorkQueue(3, key => this.#run(key))
    this.#pods = new Follower<V1Pod>(
      config, '/api/v1/pods', () => core.listPodForAllNamespaces(), pod => { this.#queue.add(keyOf(pod)) }
    )
    this.#nodes = new Follower<V1Node>(
      config, '/api/v1/nodes', () => core.listNode(),
      () => { for (const pod of this.#pods.list()) this.#queue.add(keyOf(pod)) }
    )
  }

  async start (...names: string[]): Promise<void> {
    for (const name of names) {
      await this.#core.createNode({
        body: { metadata: { name, labels: { 'orch.io/hostname': name, 'orch.io/os': 'linux' } } }
      })
      const status = {
        capacity: { cpu: '4', memory: '8Gi', pods: '110' },
        allocatable: { cpu: '4', memory: '8Gi', pods: '110' },
        conditions: [{ type: 'Ready', status: 'True', reason: 'NodeAgentReady', message: 'it runs pods' }]
      }
      await this.#core.patchNodeStatus({ name, body: { status } }, MERGE)
    }
    await this.#nodes.start()
    await this.#pods.start()
  }

  async stop (): Promise<void> {
    await this.#queue.stop()
    await this.#pods.stop()
    await this.#nodes.stop()
  }

  async #run (key: string): Promise<void> {
    const [namespace = '', name = ''] = key.split('/')
    const pod = this.#pods.get(namespace, name)
    if (pod?.metadata === undefined) return
    if (pod.metadata.deletionTimestamp !== undefined) {
      await this.#core.deleteNamespacedPod({
        namespace, name, gracePeriodSeconds: 0, body: { preconditions: { uid: pod.metadata.uid as string } }
      }).catch((error: { code?: number }) => { // the server has given it a uid
        if (error.code !== 404) throw error
      })
    } else if (pod.spec?.nodeName === undefined) {
      const node = this.#nodes.list().find(({ spec }) => spec?.unschedulable !== true)
      if (node !== undefined) {
        await this.#core.createNamespacedPodBinding({
          namespace, name, body: { metadata: { name }, target: { kind: 'Node', name: nameOf(node) } }
        })
      }
    } else if (pod.status?.phase !== 'Running') {
      const containerStatuses = pod.spec.containers.map(({ name, image = '' }) => ({
        name,
        image,
        imageID: image,
        ready: true,
        restartCount: 0,
        started: true,
        state: { running: { startedAt: new Date() } }
      }))
      const conditions = ['Initialized', 'Ready', 'ContainersReady', 'PodScheduled']
        .map(type => ({ type, status: 'True', lastTransitionTime: new Date() }))
      await this.#core.patchNamespacedPodStatus(
        {
          namespace,
          name,
          body: {
            status: {
              phase: 'Running',
              podIP: '10.1.0.1',
              podIPs: [{ ip: '10.1.0.1' }],
              hostIP: '10.2.0.1',
              startTime: new Date(),
              conditions,
              containerStatuses
            }
          }
        },
        MERGE
      )
    }
  }
}
