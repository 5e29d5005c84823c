/** A controller: for each Site, a ConfigMap with its page, whose name the Site's status has. */
import { CoreV1Api, CustomObjectsApi, makeInformer } from '@kubernetes/client-node'

const SITES = { group: 'example.com', version: 'v1', plural: 'sites' }
const RETRY_MS = 50

const ignoring = code => error => {
  if (error.code !== code) throw error
}

export class SiteController {
  #core
  #custom
  #informer
  #stopped = false
  /** Reconciliations in progress, by Site, so that each Site has one at a time. */
  #working = new Map()

  /** @param {import('@kubernetes/client-node').KubeConfig} config */
  constructor (config) {
    this.#core = config.makeApiClient(CoreV1Api)
    this.#custom = config.makeApiClient(CustomObjectsApi)
    this.#informer = makeInformer(config, '/apis/example.com/v1/sites', () =>
      this.#custom.listCustomObjectForAllNamespaces(SITES))
    for (const event of ['add', 'update']) this.#informer.on(event, site => { this.#enqueue(site.metadata) })
    // The informer has ended, with an error of the connection for instance: start it again.
    this.#informer.on('error', () => {
      setTimeout(() => { if (!this.#stopped) this.start().catch(() => {}) }, RETRY_MS)
    })
  }

  async start () { await this.#informer.start() }

  async stop () {
    this.#stopped = true
    await this.#informer.stop()
    await Promise.all(this.#working.values())
  }

  #enqueue ({ namespace, name }) {
    const key = `${namespace}/${name}`
    const before = this.#working.get(key) ?? Promise.resolve()
    const work = before.then(() => this.#untilDone(namespace, name))
      .finally(() => { if (this.#working.get(key) === work) this.#working.delete(key) })
    this.#working.set(key, work)
  }

  async #untilDone (namespace, name) {
    while (!this.#stopped) {
      try {
        return await this.#reconcile(namespace, name)
      } catch {
        await new Promise(resolve => { setTimeout(resolve, RETRY_MS) })
      }
    }
  }

  async #reconcile (namespace, name) {
    const site = await this.#custom.getNamespacedCustomObject({ ...SITES, namespace, name }).catch(ignoring(404))
    if (site === undefined) return
    const page = `${name}-page`
    const data = { 'index.html': `<h1>${site.spec.title}</h1>` }
    const found = await this.#core.readNamespacedConfigMap({ namespace, name: page }).catch(ignoring(404))
    if (found === undefined) {
      const { apiVersion, kind, metadata: { uid } } = site
      await this.#core.createNamespacedConfigMap({
        namespace,
        body: { metadata: { name: page, ownerReferences: [{ apiVersion, kind, name, uid, controller: true }] }, data }
      })
    } else if (found.data?.['index.html'] !== data['index.html']) {
      await this.#core.replaceNamespacedConfigMap({ namespace, name: page, body: { ...found, data } })
    }
    if (site.status?.page !== page) {
      await this.#custom.replaceNamespacedCustomObjectStatus({
        ...SITES, namespace, name, body: { ...site, status: { page } }
      })
    }
  }
}
