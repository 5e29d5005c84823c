/**
 * Creates and maintains the default priority levels and flow schemas, at start-up and every minute. The annotation
 * `apf.orch.io/autoupdate-spec` decides whether suggested ones are maintained; without it, an object of generation 1
 * counts as unchanged by users. Annotated objects that are no longer defaults are deleted. Several servers may do so
 * concurrently.
 */
import type { FlowSchema, PriorityLevelConfiguration } from '../../schemas/api/flowcontrol/v1beta1.js'
import { isStatusError } from '../../schemas/status.js'
import { AtStart } from '../at-start.js'
import { serverContext, type WriteContext } from '../../registry/write-context.js'
import { systemClock } from '../../event-loop/clock.js'
import { isStorageError } from '../../storage/errors.js'
import { create } from '../../registry/verbs/create.js'
import { remove } from '../../registry/verbs/delete.js'
import { current } from '../../registry/current.js'
import { change } from '../../registry/verbs/change.js'
import type { ResourceStore } from '../../registry/resource-store.js'
import {
  GROUP, MANDATORY_LEVELS, MANDATORY_SCHEMAS, SUGGESTED_LEVELS, suggestedSchemas
} from '../../flow-control/defaults.js'
import { inBootstrapVersion } from './bootstrap-version.js'

const AUTOUPDATE = 'apf.orch.io/autoupdate-spec'
const MANAGER = 'api-priority-and-fairness-config-producer-v1'
const INTERVAL = 60_000

type Configured = FlowSchema | PriorityLevelConfiguration

/** The value of the annotation; undefined if missing or invalid. */
function autoupdateAnnotation ({ metadata: { annotations } }: Configured): boolean | undefined {
  const value = annotations?.[AUTOUPDATE] ?? ''
  if (/^(?:1|t|T|true|TRUE|True)$/.test(value)) return true
  return /^(?:0|f|F|false|FALSE|False)$/.test(value) ? false : undefined
}

/** The corrected object, undefined if nothing changes. */
export function corrected<T extends Configured> (
  existing: T, wanted: T, mandatory: boolean, lends = false
): T | undefined {
  const desired = keptLending(existing, wanted, lends)
  const keep = mandatory || (autoupdateAnnotation(existing) ?? existing.metadata.generation === 1)
  const differs = keep && canonical(existing.spec) !== canonical(desired.spec)
  if (autoupdateAnnotation(existing) === keep && !differs) return undefined
  return {
    ...existing,
    metadata: { ...existing.metadata, annotations: { ...existing.metadata.annotations, [AUTOUPDATE]: String(keep) } },
    ...(differs ? { spec: structuredClone(desired.spec) } : {})
  }
}

/** What a release before 1.29 does not know stays as it is, as what the level `exempt` reserves does anywhere. */
function keptLending<T extends Configured> (existing: T, desired: T, lends: boolean): T {
  const [there, { spec }] = [existing.spec, desired]
  if (!('type' in spec) || !('type' in there)) return desired
  const { lendablePercent, borrowingLimitPercent } = there.limited ?? {}
  const limited = lends || spec.limited === undefined
    ? spec.limited
    : { ...spec.limited, lendablePercent, borrowingLimitPercent }
  return { ...desired, spec: { ...spec, limited, exempt: there.exempt ?? (lends ? spec.exempt : undefined) } }
}

/** A canonical form of specs: empty lists and false count as unset, and member order is ignored. */
function canonical (value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) => {
    if (typeof part !== 'object' || part === null || Array.isArray(part)) return part
    return Object.fromEntries(Object.entries(part).filter(([, member]) => member !== null && member !== undefined &&
      member !== false &&
      !(Array.isArray(member) && member.length === 0)).sort(([one], [other]) => one < other ? -1 : 1))
  })
}

export class FlowDefaults extends AtStart {
  #cancel: (() => void) | undefined

  /** Resolves when the defaults are correct. */
  override async start (): Promise<void> {
    await super.start()
    this.#scheduleNext()
  }

  override async close (): Promise<void> {
    this.#cancel?.()
    await super.close()
  }

  #scheduleNext (): void {
    if (this.closing.aborted) return
    this.#cancel = (this.options.clock ?? systemClock).after(INTERVAL, () => {
      super.start().catch((error: unknown) => {
        if (!isStorageError(error, 'Closed')) {
          this.options.log('the defaults of priority and fairness could not be restored, retrying in a minute', error)
        }
      }).finally(() => { this.#scheduleNext() })
    })
  }

  protected async make (): Promise<void> {
    const levels = this.options.resources.find(GROUP, 'prioritylevelconfigurations')
    const schemas = this.options.resources.find(GROUP, 'flowschemas')
    if (levels === undefined || schemas === undefined) return
    const wanted = suggestedSchemas(schemas.gates)
    // Levels first: the status of a schema without its level would report it as missing.
    for (const [store, suggested, mandatory] of [
      [levels, SUGGESTED_LEVELS, MANDATORY_LEVELS], [schemas, wanted, MANDATORY_SCHEMAS]
    ] as const) {
      await this.each([...suggested, ...mandatory], object =>
        this.#ensure(store, object, (mandatory as readonly Configured[]).includes(object)))
    }
    await this.#removeObsolete(
      levels, new Set([...SUGGESTED_LEVELS, ...MANDATORY_LEVELS].map(({ metadata: { name = '' } }) => name))
    )
    await this.#removeObsolete(
      schemas, new Set([...wanted, ...MANDATORY_SCHEMAS].map(({ metadata: { name = '' } }) => name))
    )
  }

  get #context (): WriteContext { return { ...serverContext(this.closing), fieldManager: MANAGER } }

  async #ensure (store: ResourceStore, desired: Configured, mandatory: boolean): Promise<void> {
    if (this.closing.aborted) return
    const { name = '' } = desired.metadata
    const entry = await current(store, store.keys.of('', name))
    if (entry === undefined) {
      const missing = { ...structuredClone(desired), metadata: { name, annotations: { [AUTOUPDATE]: 'true' } } }
      await create(inBootstrapVersion(store), missing, { namespace: '', name: '' }, this.#context)
        .catch((error: unknown) => {
          if (!isStatusError(error, 'AlreadyExists')) throw error // created by another server
        })
      return
    }
    const lends = store.gates.enabled('FairnessLendsSeats')
    if (corrected(store.entries.read(entry) as Configured, desired, mandatory, lends) === undefined) return
    await change(inBootstrapVersion(store), { namespace: '', name }, this.#context, base => {
      const existing = base.copy() as Configured // of the store's type
      return corrected(existing, desired, mandatory, lends) ?? existing
    }).catch((error: unknown) => {
      if (!isStatusError(error, 'NotFound')) throw error // created again in a minute
    })
  }

  /** Deletes defaults of other releases. */
  async #removeObsolete (store: ResourceStore, defaults: ReadonlySet<string>): Promise<void> {
    const obsolete: Configured[] = []
    const { start, end } = store.keys.range('')
    store.cache?.snapshot.map.forEach(start, end, entry => {
      if (entry.name !== '' && !defaults.has(entry.name)) obsolete.push(store.entries.read(entry) as Configured)
      return true
    })
    for (const object of obsolete) {
      if (autoupdateAnnotation(object) !== true) continue
      const { name = '', uid } = object.metadata
      await remove(store, { namespace: '', name }, { preconditions: { uid } }, this.#context)
        .catch((error: unknown) => {
          if (!isStatusError(error, 'NotFound') && !isStatusError(error, 'Conflict')) throw error
        })
    }
  }
}
