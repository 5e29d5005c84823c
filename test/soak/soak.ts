/**
 * Real clients beside hostile ones for a while, in which the heap must find its level. Then all disconnect, and the
 * server must hold what it held before: places, watches, descriptors, timers, memory.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { random } from '../random.js'
import type { Held } from './probe.js'
import { fillStill, reader, tenant, watcher, writer, type Round } from './honest.js'
import { attacker } from './hostile.js'
import { drift, interval, quiet, type Level } from './levels.js'
import { Client, type Target } from './target.js'

export interface Outcome {
  readonly seed: number
  readonly faults: readonly string[]
  /** Times of each action, in each place. */
  readonly done: Readonly<Record<string, Readonly<Record<string, number>>>>
  readonly before: Held
  readonly after: Held
  /** Levels of the heap during the run. */
  readonly levels: readonly Level[]
}

/** Caches, windows of events and history that grow to their bounds, and reserves of Node. */
const ROOM = 48 * 1024 * 1024
/** What is opened once, on first use, such as the connection that compacts etcd. */
const OPENED_LATER = 2
/**
 * Milliseconds until abandoned connections have closed, interrupted requests have ended, and the events of the last
 * minute are dropped.
 */
const SETTLE = 150_000
/** Milliseconds for interrupted requests to end, while the load pauses. */
const REST = 10_000
/** Samples of a level; the second number for runs too short to tell a small change. */
const LOOKS = [5, 2] as const
const BETWEEN_LOOKS = 1000
/** Milliseconds: a load that a busy machine can sustain. */
const PAUSE = 50
/** Of all places together, as the pause is that of one place alone. */
const ATTACKERS = 6
const MAX_FAULTS = 20
const MAX_LONGER = 60
/** Seconds of each additional round. */
const LATE_ROUND = 10

/**
 * @param settle milliseconds within which the server must hold what it held before
 * @param atLeast the run continues until each of these was done once in each place, at most `MAX_LONGER` seconds
 */
export async function soak (
  target: Target, seconds: number, seed?: number, settle = SETTLE, atLeast: readonly string[] = []
): Promise<Outcome> {
  const { seed: used, int } = random(seed)
  const faults: string[] = []
  const done: Record<string, Record<string, number>> = {}
  const over = new AbortController()
  const fault = (what: string): void => { if (faults.length < MAX_FAULTS) faults.push(what) }
  const rounds = target.places.map((place): Round => {
    const actions: Record<string, number> = done[place.name] = {}
    return {
      place, signal: over.signal, int, pause: PAUSE * target.places.length,
      fault: what => { fault(`${place.name}: ${what}`) },
      did: what => { actions[what] = (actions[what] ?? 0) + 1 }
    }
  })
  for (const round of rounds) await fillStill(round)
  // Loads what is loaded on first use, so that before and after are comparable.
  await work(rounds, AbortSignal.timeout(1500))
  const before = await settled(target, undefined, settle, fault)
  target.child.once('exit', code => {
    fault(`the server ended with ${String(code)}: ${target.log().slice(-2000)}`)
    over.abort()
  })
  const levels: Level[] = []
  const since = performance.now()
  const lacks = (): boolean => Object.values(done).some(actions => atLeast.some(what => (actions[what] ?? 0) === 0))
  for (let at = 0; (at < seconds || (at < seconds + MAX_LONGER && lacks())) &&
    !over.signal.aborted; at = Math.round((performance.now() - since) / 1000)) {
    const rest = new AbortController()
    // What was not done in time gets additional rounds: on a busy machine a client needs a second to connect.
    const long = at < seconds ? Math.min(interval(seconds), Math.max(seconds - at, 1)) : LATE_ROUND
    const due = setTimeout(() => { rest.abort() }, long * 1000)
    over.signal.onabort = () => { rest.abort() }
    await work(rounds, rest.signal)
    clearTimeout(due)
    if (target.child.exitCode === null) {
      levels.push({ at: Math.round((performance.now() - since) / 1000), ...await rested(target, seconds) })
    }
  }
  const drifted = drift(levels, seconds)
  if (drifted !== undefined) fault(drifted)
  const after = target.child.exitCode === null ? await settled(target, before, settle, fault) : before
  for (const line of target.log().split('\n')) {
    if (/uncaught|unhandled|exception|rejected and nobody/i.test(line)) fault(`in the log: ${line.slice(0, 500)}`)
  }
  return { seed: used, faults, done, before, after, levels }
}

async function work (rounds: readonly Round[], signal: AbortSignal): Promise<void> {
  const attackers = Math.ceil(ATTACKERS / rounds.length)
  await Promise.all(rounds.map(async round => { await workIn({ ...round, signal }, attackers) }))
}

async function workIn (now: Round, attackers: number): Promise<void> {
  const { protocols } = now.place
  await Promise.all([
    ...protocols.flatMap(protocol => [
      reader(now, protocol), writer(now, protocol, `w-${protocol}`), watcher(now, protocol),
      tenant(now, protocol, `t-${protocol}`)
    ]),
    ...Array.from({ length: attackers }, () => attacker(now))
  ])
}

/** What the server holds without requests. Reports what does not return to the value `before`. */
async function settled (
  target: Target, before: Held | undefined, settle: number, fault: (what: string) => void
): Promise<Held> {
  let held: Held | undefined
  let why = ''
  for (const deadline =
    Date.now() + settle; Date.now() < deadline; await sleep(held === undefined ? 250 : BETWEEN_LOOKS)) {
    why = await underWay(target)
    if (why !== '') continue
    held = await target.held()
    if (before !== undefined) {
      if (held.descriptors > before.descriptors +
        OPENED_LATER) why = `${held.descriptors} descriptors, ${before.descriptors} before`
      else if (held.timers > before.timers) why = `${held.timers} timers, ${before.timers} before`
      else if (held.memory > before.memory + ROOM) why = `${held.memory} bytes, ${before.memory} before`
    }
    if (why === '') return held
  }
  fault(`the server does not come to rest: ${why}`)
  return held ?? await target.held()
}

/**
 * What the server holds between two rounds, without active requests: the minimum of several samples, because
 * interrupted requests are released gradually. @param seconds of the run
 */
async function rested (target: Target, seconds: number): Promise<Held> {
  for (const deadline = Date.now() + REST; Date.now() < deadline && await underWay(target) !== ''; await sleep(250));
  await sleep(quiet(seconds) * 1000)
  let lowest = await target.held()
  for (let look = 1; look < LOOKS[quiet(seconds) > 0 ? 0 : 1]; look++) {
    await sleep(BETWEEN_LOOKS)
    const held = await target.held()
    if (held.heap < lowest.heap) lowest = held
  }
  return lowest
}

/** What is still active according to its metrics, besides this request; '' if nothing is. */
async function underWay (target: Target): Promise<string> {
  const open: string[] = []
  for (const place of target.places) {
    const client = new Client(place, place.protocols[0] ?? 'http1')
    const text = await client.ask('/metrics').then(
      ({ body }) => body.toString(), (error: unknown) => `not answered: ${String(error)}`
    )
    client.close()
    if (text.startsWith('not answered')) return text
    open.push(...text.split('\n').filter(line => /^apiserver_(longrunning|current_inflight)_?requests\{/.test(line) &&
      !/ 0$/.test(line) && !/request_kind="readOnly"\} 1$/.test(line)))
  }
  return open.join('; ')
}
