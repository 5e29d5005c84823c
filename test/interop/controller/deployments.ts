/**
 * A small controller of Deployments on the public client library: creates a ReplicaSet for each template and its pods,
 * deletes surplus ones, and reports progress in the status. Several instances may run; one of them works.
 */
import { createHash } from 'node:crypto'
import {
  PatchStrategy, AppsV1Api, setHeaderOptions, CoreV1Api, type V1ReplicaSet, type V1Pod, type V1Deployment,
  type KubeConfig, type KubernetesObject
} from '@kubernetes/client-node'
import { Follower, nameOf, ownerOf, uidOf } from './follower.js'
import { Leadership } from './leadership.js'
import { WorkQueue } from './work-queue.js'

const WORKERS = 5
/** Read by kubectl. */
const REVISION = 'deployment.kubernetes.io/revision'
const MERGE = setHeaderOptions('Content-Type', PatchStrategy.MergePatch)

const codeOf = (error: unknown): number | undefined => (error as { code?: number }).code
/** Ignores that an object to delete is already deleted. */
const orGone = (error: unknown): void => { if (codeOf(error) !== 404) throw error }
const isReady = ({ status }: V1Pod): boolean =>
  status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true
const alive = ({ metadata }: KubernetesObject): boolean => metadata?.deletionTimestamp === undefined
const byRevision = (set: V1ReplicaSet): number => Number(set.metadata?.annotations?.[REVISION] ?? 0)

export class DeploymentController {
  readonly deployments: Follower<V1Deployment>
  readonly sets: Follower<V1ReplicaSet>
  readonly pods: Follower<V1Pod>
  readonly leadership: Leadership
  readonly queue: WorkQueue
  /** Uids by name of the created objects, as the server returned them. */
  readonly made = new Map<string, string>()
  readonly #apps: AppsV1Api
  readonly #core: CoreV1Api

  constructor (config: KubeConfig, namespace: string, identity: string) {
    const [apps, core] = [this.#apps, this.#core] = [config.makeApiClient(AppsV1Api), config.makeApiClient(CoreV1Api)]
    const ofSet = (set: KubernetesObject | undefined): void => {
      const owner = set === undefined ? undefined : ownerOf(set)
      if (owner !== undefined) this.queue.add(owner.name)
    }
    this.deployments = new Follower(
      config, `/apis/apps/v1/namespaces/${namespace}/deployments`, () => apps.listNamespacedDeployment({ namespace }),
      object => { this.queue.add(nameOf(object)) }
    )
    this.sets = new Follower<V1ReplicaSet>(
      config, `/apis/apps/v1/namespaces/${namespace}/replicasets`, () => apps.listNamespacedReplicaSet({ namespace }),
      ofSet
    )
    this.pods = new Follower<V1Pod>(
      config, `/api/v1/namespaces/${namespace}/pods`, () => core.listNamespacedPod({ namespace }),
      pod => { ofSet(this.sets.get(namespace, ownerOf(pod)?.name ?? '')) }
    )
    this.leadership = new Leadership(config, namespace, 'deployments', identity, () => {
      for (const one of this.deployments.list()) this.queue.add(nameOf(one))
    })
    this.queue = new WorkQueue(WORKERS, name => this.#reconcile(namespace, name))
  }

  async start (): Promise<void> {
    for (const one of [this.deployments, this.sets, this.pods]) await one.start()
    this.leadership.start()
  }

  async stop (): Promise<void> {
    await this.queue.stop()
    await this.leadership.stop()
    for (const one of [this.deployments, this.sets, this.pods]) await one.stop()
  }

  async #reconcile (namespace: string, name: string): Promise<void> {
    const deployment = this.deployments.get(namespace, name)
    if (!this.leadership.leads || deployment?.spec === undefined || !alive(deployment)) return
    const { replicas = 1, template, selector } = deployment.spec
    const hash = createHash('sha256').update(JSON.stringify(template)).digest('hex').slice(0, 8)
    const known = this.sets.ownedBy(uidOf(deployment)).sort((a, b) => byRevision(a) - byRevision(b))
    const latest = known.reduce((most, set) => Math.max(most, byRevision(set)), 0)
    let current = known.find(set => nameOf(set) === `${name}-${hash}`)
    if (current === undefined) {
      const labels = { ...template.metadata?.labels, 'pod-template-hash': hash }
      const body = {
        metadata: {
          ...this.#owned(deployment, 'Deployment', `${name}-${hash}`, labels),
          annotations: { [REVISION]: String(latest + 1) }
        },
        spec: {
          replicas,
          selector: { matchLabels: { ...selector.matchLabels, 'pod-template-hash': hash } },
          template: { ...template, metadata: { ...template.metadata, labels } }
        }
      }
      current = await this.#make(() => this.#apps.createNamespacedReplicaSet({ namespace, body }))
      if (current === undefined) return // another event will follow
    } else if (byRevision(current) < latest) {
      await this.#apps.patchNamespacedReplicaSet(
        { namespace, name: nameOf(current), body: { metadata: { annotations: { [REVISION]: String(latest + 1) } } } },
        MERGE
      )
    }
    for (const set of new Set([current, ...known])) {
      await this.#scale(namespace, set, set === current || nameOf(set) === nameOf(current) ? replicas : 0)
    }
    await this.#tell(deployment, known.find(set => nameOf(set) === nameOf(current)) ?? current, known)
  }

  /** Creates or deletes pods up to the wanted number, and writes the status. */
  async #scale (namespace: string, set: V1ReplicaSet, replicas: number): Promise<void> {
    const name = nameOf(set)
    if (set.spec?.replicas !== replicas) {
      await this.#apps.patchNamespacedReplicaSet({ namespace, name, body: { spec: { replicas } } }, MERGE)
    }
    const pods = new Map(this.pods.ownedBy(uidOf(set)).map(pod => [nameOf(pod), pod]))
    for (let at = 0; at < replicas; at++) {
      if (pods.has(`${name}-${at}`)) continue
      const body = {
        metadata: this.#owned(set, 'ReplicaSet', `${name}-${at}`, set.spec?.template?.metadata?.labels ?? {}),
        spec: set.spec?.template?.spec ?? { containers: [] }
      }
      await this.#make(() => this.#core.createNamespacedPod({ namespace, body }))
    }
    for (const [pod, object] of pods) {
      if (alive(object) && Number(pod.slice(name.length + 1)) >= replicas) {
        await this.#core.deleteNamespacedPod({ namespace, name: pod }).catch(orGone)
      }
    }
    const [there, ready] = [
      [...pods.values()].filter(alive).length, [...pods.values()].filter(pod => alive(pod) && isReady(pod)).length
    ]
    const status = {
      replicas: there,
      fullyLabeledReplicas: there,
      readyReplicas: ready,
      availableReplicas: ready,
      observedGeneration: set.metadata?.generation
    }
    if (Object.entries(status).some(([field, value]) => (set.status?.[field as keyof typeof status] ?? 0) !== value)) {
      await this.#apps.patchNamespacedReplicaSetStatus({ namespace, name, body: { status } }, MERGE)
    }
  }

  async #tell (deployment: V1Deployment, current: V1ReplicaSet, known: readonly V1ReplicaSet[]): Promise<void> {
    const { namespace = '', name = '', generation, annotations = {} } = deployment.metadata ?? {}
    const revision = current.metadata?.annotations?.[REVISION] ?? ''
    if (annotations[REVISION] !== revision) {
      await this.#apps.patchNamespacedDeployment(
        { namespace, name, body: { metadata: { annotations: { [REVISION]: revision } } } }, MERGE
      )
    }
    const count = (sets: readonly V1ReplicaSet[]): V1Pod[] =>
      sets.flatMap(set => this.pods.ownedBy(uidOf(set))).filter(alive)
    const [all, updated] = [count([current, ...known.filter(set => set !== current)]), count([current])]
    const ready = all.filter(isReady).length
    const wanted = deployment.spec?.replicas ?? 1
    const done = updated.filter(isReady).length >= wanted && all.length === wanted
    const conditions = [
      {
        type: 'Available',
        status: ready >= wanted ? 'True' : 'False',
        reason: ready >= wanted ? 'MinimumReplicasAvailable' : 'MinimumReplicasUnavailable'
      },
      { type: 'Progressing', status: 'True', reason: done ? 'NewReplicaSetAvailable' : 'ReplicaSetUpdated' }
    ]
    const status = {
      observedGeneration: generation,
      replicas: all.length,
      updatedReplicas: updated.length,
      readyReplicas: ready,
      availableReplicas: ready,
      unavailableReplicas: Math.max(0, wanted - ready)
    }
    const same = Object.entries(status).every(([field, value]) =>
      (deployment.status?.[field as keyof typeof status] ?? 0) === value) &&
      conditions.every(({ type, status, reason }) => deployment.status?.conditions?.some(one =>
        one.type === type && one.status === status && one.reason === reason) === true)
    if (!same) {
      await this.#apps.patchNamespacedDeploymentStatus(
        { namespace, name, body: { status: { ...status, conditions } } }, MERGE
      )
    }
  }

  #owned (
    owner: KubernetesObject, kind: string, name: string, labels: Record<string, string>
  ): NonNullable<KubernetesObject['metadata']> {
    return {
      name,
      labels,
      ownerReferences: [
        {
          apiVersion: 'apps/v1',
          kind,
          name: nameOf(owner),
          uid: uidOf(owner),
          controller: true,
          blockOwnerDeletion: true
        }
      ]
    }
  }

  /** Undefined if the object already exists: a response was lost, or the informer is behind. */
  async #make<T extends KubernetesObject> (create: () => Promise<T>): Promise<T | undefined> {
    try {
      const object = await create()
      this.made.set(nameOf(object), uidOf(object))
      return object
    } catch (error) {
      if (codeOf(error) === 409) return undefined
      throw error
    }
  }
}
