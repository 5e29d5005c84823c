/**
 * Maintains Secrets of type orch.io/service-account-token: adds a token, the namespace and the server's CA, and deletes
 * Secrets whose account was deleted or replaced. Beside a controller manager it is harmless, because existing data
 * stays.
 *
 * Limit: tokens signed with a removed key stay; deleting and recreating the Secret yields a new one.
 */
import type { ServiceAccountTokens, TokenSigner } from '../auth/service-account-tokens.js'
import { notFound } from '../schemas/status.js'
import type { Entry } from '../storage/cache/entry.js'
import { isStorageError } from '../storage/errors.js'
import { serverContext, type WriteContext } from '../registry/write-context.js'
import { remove } from '../registry/verbs/delete.js'
import { EVERYTHING } from '../registry/verbs/list-request.js'
import { list } from '../registry/verbs/list.js'
import { current } from '../registry/current.js'
import { change } from '../registry/verbs/change.js'
import type { ResourceStore } from '../registry/resource-store.js'
import type { Controller, ControllerOptions } from './controller.js'
import { Informer, type ObjectName } from './informer.js'
import { accountOf, fillTokenSecret, isIncomplete, TYPE, type Secret } from './token-secret-data.js'
import { WorkQueue } from './work-queue.js'
import { ignoring } from './races.js'

const WORKERS = 4

export interface TokenSecretsOptions extends ControllerOptions {
  readonly tokens: Pick<ServiceAccountTokens, 'certificateAuthority'> & { readonly signer: TokenSigner }
}

export class TokenSecrets implements Controller {
  readonly #options: TokenSecretsOptions
  readonly #queue: WorkQueue
  #context: WriteContext | undefined
  #informers: readonly Informer[] = []

  constructor (options: TokenSecretsOptions) {
    this.#options = options
    this.#queue = new WorkQueue({
      workers: WORKERS,
      work: async (key, signal) => {
        const [namespace = '', name = ''] = key.split('/')
        await this.#reconcile({ namespace, name }, this.#context ??= serverContext(signal))
        return 'done'
      },
      failed: (key, error) => {
        if (!isStorageError(error, 'Closed')) options.log(`reconciling token secret ${key} failed, retrying`, error)
      },
      name: 'serviceaccount_tokens_secret',
      observe: options.observeQueue,
      ...(options.clock === undefined ? {} : { clock: options.clock })
    })
  }

  /** Resolves when every existing token Secret has been queued. */
  async start (): Promise<void> {
    const { log, clock, resources } = this.#options
    const secrets = resources.find('', 'secrets')
    const accounts = resources.find('', 'serviceaccounts')
    if (secrets === undefined || accounts === undefined) return
    const more = clock === undefined ? {} : { clock }
    this.#close()
    this.#informers = [
      new Informer({ store: secrets, log, handlers: [{ changed: entry => { this.#enqueue(entry) } }], ...more }),
      new Informer({
        store: accounts, log,
        handlers: [{ changed: () => {}, deleted: name => { this.#enqueueSecretsOf(secrets, name) } }], ...more
      })
    ]
    for (const informer of this.#informers) await informer.start()
  }

  async close (): Promise<void> {
    this.#close()
    await this.#queue.close()
  }

  #close (): void { for (const informer of this.#informers) informer.close() }

  /** @param entry of a Secret; its selectable field is the type */
  #enqueue ({ name, fields }: Entry): void {
    if (fields[2] === TYPE) this.#queue.add(`${fields[1] ?? ''}/${name}`)
  }

  /** Queues the Secrets of a deleted account. */
  #enqueueSecretsOf (secrets: ResourceStore, { namespace, name }: ObjectName): void {
    list(secrets, { ...EVERYTHING, namespace }).then(({ entries }) => {
      for (const entry of entries) {
        if (entry.fields[2] === TYPE && accountOf(secrets.entries.read(entry))?.name === name) this.#enqueue(entry)
      }
    }).catch((error: unknown) => {
      if (!isStorageError(error, 'Closed')) {
        this.#options.log(`secrets of service account ${namespace}/${name} could not be listed`, error)
      }
    })
  }

  async #reconcile ({ namespace, name }: ObjectName, context: WriteContext): Promise<void> {
    const { resources } = this.#options
    const secrets = resources.find('', 'secrets')
    const accounts = resources.find('', 'serviceaccounts')
    const entry = secrets === undefined ? undefined : await current(secrets, secrets.keys.of(namespace, name))
    if (secrets === undefined || accounts === undefined || entry === undefined) return
    const secret: Secret = secrets.entries.read(entry)
    const reference = accountOf(secret)
    if (secret.type !== TYPE || reference === undefined || secret.metadata.deletionTimestamp !== undefined) return
    const owning = await current(accounts, accounts.keys.of(namespace, reference.name))
    const account = owning === undefined ? undefined : accounts.entries.read(owning).metadata
    if (account === undefined || (reference.uid !== '' && reference.uid !== account.uid)) {
      const { uid } = secret.metadata
      await remove(secrets, { namespace, name }, { preconditions: { uid } }, context)
        .catch(ignoring('NotFound', 'Conflict', 'Invalid', 'Forbidden'))
      return
    }
    const { signer, certificateAuthority = '' } = this.#options.tokens
    if (!isIncomplete(secret, certificateAuthority)) return
    const owner = { name: reference.name, uid: account.uid ?? '' }
    const token = await signer.issueForSecret({ namespace, account: owner, secretName: name })
    await change(secrets, { namespace, name }, context, base => {
      const object: Secret = base.copy()
      if (object.metadata.uid !== secret.metadata.uid || accountOf(object)?.name !== owner.name) {
        throw notFound(secrets.resource, name)
      }
      return fillTokenSecret(object, owner, token, certificateAuthority)
    }).catch(ignoring('NotFound', 'Conflict', 'Invalid', 'Forbidden'))
  }
}
