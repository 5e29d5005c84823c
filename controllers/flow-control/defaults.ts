/**
 * The levels and schemas that a server begins with: made where they are missing and kept as they should be, at start and once a
 * minute. Of those that are only suggested, the annotation `apf.orch.io/autoupdate-spec` says whether they are kept; one without it was
 * never changed while its generation is 1. What carries the annotation and is no default any more goes. Several servers may do so at once.
 */
import type { FlowSchema, PriorityLevelConfiguration } from '../../schemas/api/flowcontrol/v1beta1.js'
import { isStatusError } from '../../schemas/status.js'
import { AtStart } from '../at-start.js'
import { serverContext } from '../../registry/operations/context.js'
import { systemClock } from '../../storage/clock.js'
import { isStorageError } from '../../storage/errors.js'
import type { WriteContext } from '../../registry/operations/context.js'
import { create } from '../../registry/operations/create.js'
import { remove } from '../../registry/operations/delete.js'
import { current } from '../../registry/operations/rewrite.js'
import { change } from '../../registry/operations/update.js'
import type { ResourceStore } from '../../registry/resource-store.js'
import { GROUP, MANDATORY_LEVELS, MANDATORY_SCHEMAS, SUGGESTED_LEVELS, SUGGESTED_SCHEMAS } from '../../flow-control/defaults.js'
import { inWrittenVersion } from './written.js'

const AUTOUPDATE = 'apf.orch.io/autoupdate-spec'
const MANAGER = 'api-priority-and-fairness-config-producer-v1'
const INTERVAL = 60_000

type Configured = FlowSchema | PriorityLevelConfiguration

/** As the annotation says it; undefined where it says nothing. */
function autoupdateAnnotation ({ metadata: { annotations } }: Configured): boolean | undefined {
  const value = annotations?.[AUTOUPDATE] ?? ''
  if (/^(?:1|t|T|true|TRUE|True)$/.test(value)) return true
  return /^(?:0|f|F|false|FALSE|False)$/.test(value) ? false : undefined
}

/** As it should be, undefined where it is so. */
export function corrected<T extends Configured> (there: T, wanted: T, mandatory: boolean): T | undefined {
  const keep = mandatory || (autoupdateAnnotation(there) ?? there.metadata.generation === 1)
  const differs = keep && canonical(there.spec) !== canonical(wanted.spec)
  if (autoupdateAnnotation(there) === keep && !differs) return undefined
  return {
    ...there,
    metadata: { ...there.metadata, annotations: { ...there.metadata.annotations, [AUTOUPDATE]: String(keep) } },
    ...(differs ? { spec: structuredClone(wanted.spec) } : {})
  }
}

/** Of specs: an empty list and a false are nothing, and the order of members means nothing. */
function canonical (value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) => {
    if (typeof part !== 'object' || part === null || Array.isArray(part)) return part
    return Object.fromEntries(Object.entries(part).filter(([, member]) => member !== null && member !== undefined && member !== false && !(Array.isArray(member) && member.length === 0)).sort(([one], [other]) => one < other ? -1 : 1))
  })
}

export class FlowDefaults extends AtStart {
  #cancel: (() => void) | undefined

  /** Resolves when they are as they should be. */
  override async start (): Promise<void> {
    await super.start()
    this.#again()
  }

  override async close (): Promise<void> {
    this.#cancel?.()
    await super.close()
  }

  #again (): void {
    if (this.closing.aborted) return
    this.#cancel = (this.options.clock ?? systemClock).after(INTERVAL, () => {
      super.start().catch((error: unknown) => {
        if (!isStorageError(error, 'Closed')) this.options.log('the defaults of priority and fairness could not be looked after, retrying in a minute', error)
      }).finally(() => { this.#again() })
    })
  }

  protected async make (): Promise<void> {
    const levels = this.options.resources.find(GROUP, 'prioritylevelconfigurations')
    const schemas = this.options.resources.find(GROUP, 'flowschemas')
    if (levels === undefined || schemas === undefined) return
    // Levels first: a schema whose level is missing would be marked so.
    for (const [store, suggested, mandatory] of [[levels, SUGGESTED_LEVELS, MANDATORY_LEVELS], [schemas, SUGGESTED_SCHEMAS, MANDATORY_SCHEMAS]] as const) {
      await this.each([...suggested, ...mandatory], object => this.#keep(store, object, (mandatory as readonly Configured[]).includes(object)))
    }
    await this.#clear(levels, new Set([...SUGGESTED_LEVELS, ...MANDATORY_LEVELS].map(({ metadata: { name = '' } }) => name)))
    await this.#clear(schemas, new Set([...SUGGESTED_SCHEMAS, ...MANDATORY_SCHEMAS].map(({ metadata: { name = '' } }) => name)))
  }

  get #context (): WriteContext { return { ...serverContext(this.closing), fieldManager: MANAGER } }

  async #keep (store: ResourceStore, wanted: Configured, mandatory: boolean): Promise<void> {
    if (this.closing.aborted) return
    const { name = '' } = wanted.metadata
    const found = await current(store, store.key('', name))
    if (found === undefined) {
      const made = { ...structuredClone(wanted), metadata: { name, annotations: { [AUTOUPDATE]: 'true' } } }
      await create(inWrittenVersion(store), made, { namespace: '', name: '' }, this.#context).catch((error: unknown) => {
        if (!isStatusError(error, 'AlreadyExists')) throw error // another server was faster
      })
      return
    }
    if (corrected(store.readStored(found) as Configured, wanted, mandatory) === undefined) return
    await change(inWrittenVersion(store), { namespace: '', name }, this.#context, base => {
      const there = base.copy() as Configured // of the type of its store
      return corrected(there, wanted, mandatory) ?? there
    }).catch((error: unknown) => {
      if (!isStatusError(error, 'NotFound')) throw error // it is made again in a minute
    })
  }

  /** Defaults of other releases. */
  async #clear (store: ResourceStore, defaults: ReadonlySet<string>): Promise<void> {
    const old: Configured[] = []
    const { start, end } = store.range('')
    store.cache?.snapshot.map.forEach(start, end, entry => {
      if (entry.name !== '' && !defaults.has(entry.name)) old.push(store.readStored(entry) as Configured)
      return true
    })
    for (const one of old) {
      if (autoupdateAnnotation(one) !== true) continue
      const { name = '', uid } = one.metadata
      await remove(store, { namespace: '', name }, { preconditions: { uid } }, this.#context).catch((error: unknown) => {
        if (!isStatusError(error, 'NotFound') && !isStatusError(error, 'Conflict')) throw error
      })
    }
  }
}
