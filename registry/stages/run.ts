/**
 * Runs a write: its verb's stages, one after the other. A stage returns nothing, a promise, or steps where it can take
 * long; it knows nothing of event loop turns, spans or clients that have gone.
 */
import { endedBefore } from '../../schemas/status.js'
import type { WaitingSteps } from '../../schemas/steps.js'
import { isStorageError } from '../../storage/errors.js'
import { isLarge, nextTurn, turnIsOver, yieldToStarted } from '../../event-loop/turns.js'
import { withSpan, type Fields } from '../trace.js'
import type { Write } from './write.js'

export interface Stage<W extends Write = Write> {
  readonly name: string
  readonly run: (write: W) => void | WaitingSteps<void> | Promise<void>
  /** Default always. */
  readonly when?: (write: W) => boolean
  /**
   * Its steps can take long for small objects too, so it waits for a later turn when the budget of this one is used.
   * Others wait only for large objects: all writes of a turn would be in flight together, beyond the limits.
   */
  readonly isLong?: boolean
  /** The span that it runs in. Default that of the request. */
  readonly span?: string
  readonly fields?: (write: W) => Fields
}

/** Thrown by a stage: the write goes on from another one, with the state that the thrower has left. */
export class Repeat {
  readonly from: Pick<Stage, 'name'>

  constructor (from: Pick<Stage, 'name'>) { this.from = from }
}

/** Decides after the failure of a stage; throws it unless another attempt may succeed. */
export type Recover<W extends Write> = (write: W, failure: unknown) => Promise<Repeat>

const giveUp = async (_write: Write, failure: unknown): Promise<Repeat> => { throw failure }

/**
 * @param recover default: any failure ends the write
 * @throws the failure of a stage; StatusError 504 if the client is gone before the attempt sent anything to the store
 */
export async function runStages<W extends Write> (
  stages: ReadonlyArray<Stage<W>>, write: W, recover: Recover<W> = giveUp
): Promise<void> {
  const { caller } = write.context
  for (let at = 0; ;) {
    try {
      for (; at < stages.length && !write.isDone; at++) {
        const stage = stages[at] as Stage<W> // there is one, as just compared
        if (stage.when?.(write) === false) continue
        if (isLarge(write.size)) await (at > 0 ? nextTurn() : yieldToStarted())
        // What was sent to the store must be answered for.
        if (caller.isGone === true && write.outcome === undefined) {
          const rest = write.isStored ? 'what was stored until then stays' : 'nothing was changed'
          throw endedBefore(`its object was written; ${rest}`)
        }
        const isTraced = stage.span !== undefined && write.trace !== undefined
        const running = isTraced ? inSpan(stage, write) : finished(stage, write)
        if (running !== undefined) await running
      }
      return
    } catch (failure) {
      at = await nextAfter(failure, stages, write, recover)
    }
  }
}

/**
 * Takes back what the attempt has done, unless the next one begins after that.
 * @returns where the next attempt begins
 * @throws the failure if there is none
 */
async function nextAfter<W extends Write> (
  failure: unknown, stages: ReadonlyArray<Stage<W>>, write: W, recover: Recover<W>
): Promise<number> {
  const { undo, outcome, context: { caller } } = write
  // The object may exist: another would share its values, and must not be written again.
  const mayExist = isStorageError(failure, 'UnknownOutcome') || outcome?.succeeded === true
  if (mayExist && !(failure instanceof Repeat)) throw failure
  const indexOf = (wanted: Pick<Stage, 'name'>): number => stages.findIndex(stage => stage === wanted)
  const repeatAt = failure instanceof Repeat ? indexOf(failure.from) : undefined
  for (let last = undo.at(-1); last !== undefined && indexOf(last.of) >= (repeatAt ?? 0); last = undo.at(-1)) {
    undo.pop()
    await last.revert()
  }
  if (repeatAt === undefined && caller.isGone === true) throw failure
  const next = repeatAt ?? indexOf((await recover(write, failure)).from)
  if (next < 0) throw new TypeError('a write is repeated from a stage that it does not have')
  write.outcome = undefined
  return next
}

function finished<W extends Write> (stage: Stage<W>, write: W): void | Promise<void> {
  const running = stage.run(write)
  return running === undefined || running instanceof Promise ? running : runSteps(running, write, stage.isLong)
}

/** Runs as many steps in a turn as its budget allows, those of a large object one by one, short ones at once. */
export function runSteps (steps: WaitingSteps<void>, write: Write, isLong = false): void | Promise<void> {
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return
    const waiting = value ?? (isLarge(write.size) || (isLong && turnIsOver()) ? nextTurn() : undefined)
    if (waiting !== undefined) return waiting.then(() => runSteps(steps, write, isLong))
  }
}

async function inSpan<W extends Write> (stage: Stage<W>, write: W): Promise<void> {
  const { trace } = write
  try {
    await withSpan(trace, stage.span ?? stage.name, async part => {
      write.trace = part
      await finished(stage, write)
    }, stage.fields?.(write))
  } finally {
    write.trace = trace
  }
}
