/**
 * Says why calls fail if etcd has lost its quorum. The errors of the calls differ by server and time (refused
 * connections, deadlines), so the servers are asked for their leader: each answers for itself.
 */

/** Milliseconds between two rounds of questions while calls fail. */
const ASK_EVERY = 2_000

/** Whether a server has a leader. Rejects if it does not answer. */
export type Ask = () => Promise<boolean>

export class Quorum {
  readonly #servers: readonly Ask[]
  readonly #note: (text: string, level: 'info' | 'warn') => void
  #askedAt = -Infinity
  #lost: string | undefined

  constructor (servers: readonly Ask[], note: (text: string, level: 'info' | 'warn') => void) {
    this.#servers = servers
    this.#note = note
  }

  /** Why calls fail at present; undefined unless it is for the lack of a quorum. */
  get lost (): string | undefined { return this.#lost }

  /** Call after each failed call. */
  failed (): void {
    const now = performance.now()
    if (now - this.#askedAt < ASK_EVERY) return
    this.#askedAt = now
    void this.#ask()
  }

  /** Call after each call that needed the quorum and succeeded. */
  succeeded (): void {
    if (this.#lost === undefined) return
    this.#lost = undefined
    this.#note('etcd has its quorum again', 'info')
  }

  async #ask (): Promise<void> {
    const asked = await Promise.allSettled(this.#servers.map(ask => ask()))
    const answers = asked.flatMap(answer => answer.status === 'fulfilled' ? [answer.value] : [])
    if (answers.length === 0 || answers.includes(true)) return
    const before = this.#lost
    const count = `${answers.length} of ${this.#servers.length} servers ${answers.length === 1 ? 'answers' : 'answer'}`
    const remedy = 'most of its members must run and reach each other'
    this.#lost = `etcd has lost its quorum: ${count}, without a leader; ${remedy}`
    if (before === undefined) this.#note(this.#lost, 'warn')
  }
}
