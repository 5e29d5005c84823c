/**
 * Secrets of type orch.io/service-account-token: one that names an account of its namespace is given a token of that, the
 * namespace and the authority to verify the server by; one whose account has gone, or is another one by now, goes as well.
 * Beside a controller manager that does the same it is harmless: what is there is left as it is.
 *
 * Limit: a token signed with a key that the server has no longer stays. Whoever deletes the Secret and makes it again gets a new one.
 */
import type { ServiceAccountTokens, TokenSigner } from '../auth/service-account-tokens.js'
import { NO_FIELDS, NO_LABELS } from '../schemas/index.js'
import { isStatusError, notFound } from '../schemas/status.js'
import type { Entry } from '../storage/cache/entry.js'
import { isStorageError } from '../storage/errors.js'
import type { WriteContext } from '../registry/operations/context.js'
import { remove } from '../registry/operations/delete.js'
import { list } from '../registry/operations/list.js'
import { current } from '../registry/operations/rewrite.js'
import { change } from '../registry/operations/update.js'
import type { ResourceStore } from '../registry/resource-store.js'
import { serverContext } from '../registry/operations/context.js'
import type { Controller, ControllerOptions } from './controller.js'
import { Informer } from './informer.js'
import type { ObjectName } from './informer.js'
import { accountOf, fill, lacks, TYPE, type Secret } from './token-secret-data.js'
import { WorkQueue } from './work-queue.js'

const WORKERS = 4
const EVERYTHING = { labels: NO_LABELS, fields: NO_FIELDS, resourceVersion: '', limit: 0, continue: '', resourceVersionMatch: '' }

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

  /** Resolves when every such Secret there is was added to those to look at. */
  async start (): Promise<void> {
    const { log, clock, resources } = this.#options
    const secrets = resources.find('', 'secrets')
    const accounts = resources.find('', 'serviceaccounts')
    if (secrets === undefined || accounts === undefined) return
    const more = clock === undefined ? {} : { clock }
    this.#close()
    this.#informers = [
      new Informer({ store: secrets, log, handlers: [{ changed: entry => { this.#see(entry) } }], ...more }),
      new Informer({ store: accounts, log, handlers: [{ changed: () => {}, deleted: name => { this.#lookFor(secrets, name) } }], ...more })
    ]
    for (const informer of this.#informers) await informer.start()
  }

  async close (): Promise<void> {
    this.#close()
    await this.#queue.close()
  }

  #close (): void { for (const informer of this.#informers) informer.close() }

  /** @param entry of a Secret, whose selectable field is its type */
  #see ({ name, fields }: Entry): void {
    if (fields[2] === TYPE) this.#queue.add(`${fields[1] ?? ''}/${name}`)
  }

  /** Secrets of an account that has gone. */
  #lookFor (secrets: ResourceStore, { namespace, name }: ObjectName): void {
    list(secrets, { ...EVERYTHING, namespace }).then(({ entries }) => {
      for (const entry of entries) if (entry.fields[2] === TYPE && accountOf(entry.read())?.name === name) this.#see(entry)
    }).catch((error: unknown) => {
      if (!isStorageError(error, 'Closed')) this.#options.log(`secrets of service account ${namespace}/${name} could not be listed`, error)
    })
  }

  async #reconcile ({ namespace, name }: ObjectName, context: WriteContext): Promise<void> {
    const { resources } = this.#options
    const secrets = resources.find('', 'secrets')
    const accounts = resources.find('', 'serviceaccounts')
    const found = secrets === undefined ? undefined : await current(secrets, secrets.key(namespace, name))
    if (secrets === undefined || accounts === undefined || found === undefined) return
    const secret: Secret = found.read()
    const named = accountOf(secret)
    if (secret.type !== TYPE || named === undefined || secret.metadata.deletionTimestamp !== undefined) return
    const account = (await current(accounts, accounts.key(namespace, named.name)))?.read().metadata
    if (account === undefined || (named.uid !== '' && named.uid !== account.uid)) {
      const { uid } = secret.metadata
      await remove(secrets, { namespace, name }, { preconditions: { uid } }, context).catch(unlessSettled)
      return
    }
    const { signer, certificateAuthority = '' } = this.#options.tokens
    if (!lacks(secret, certificateAuthority)) return
    const owner = { name: named.name, uid: account.uid ?? '' }
    const token = await signer.issueForSecret({ namespace, account: owner, secretName: name })
    await change(secrets, { namespace, name }, context, base => {
      const object: Secret = base.copy()
      if (object.metadata.uid !== secret.metadata.uid || accountOf(object)?.name !== owner.name) throw notFound(secrets.resource, name)
      return fill(object, owner, token, certificateAuthority)
    }).catch(unlessSettled)
  }
}

/** It has gone, somebody else was faster, or may not be changed: it is looked at again when it has changed. */
function unlessSettled (error: unknown): void {
  if (!(['NotFound', 'Conflict', 'Invalid', 'Forbidden'] as const).some(reason => isStatusError(error, reason))) throw error
}
