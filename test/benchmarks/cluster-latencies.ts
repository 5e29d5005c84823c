/** Milliseconds of writes, and from a write until somebody who watches has its event. */
export class Latencies {
  readonly answers: number[] = []
  readonly events: number[] = []
  /** By resourceVersion: when its write was sent, or when its event came before the answer. */
  readonly #sent = new Map<string, number>()
  readonly #came = new Map<string, number>()

  /** @param sent when a write was sent that was answered with this version */
  answered (version: string, sent: number): void {
    this.answers.push(performance.now() - sent)
    const came = this.#came.get(version)
    if (came === undefined) this.#sent.set(version, sent)
    else this.events.push(came - sent)
    this.#came.delete(version)
  }

  came (version: string): void {
    const sent = this.#sent.get(version)
    if (sent === undefined) this.#came.set(version, performance.now())
    else this.events.push(performance.now() - sent)
    this.#sent.delete(version)
  }

  /** @returns what was measured since the last call */
  take (): { readonly answers: number[], readonly events: number[] } {
    this.#sent.clear()
    this.#came.clear()
    return { answers: this.answers.splice(0), events: this.events.splice(0) }
  }
}
