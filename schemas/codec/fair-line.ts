/** Callers that wait for a place. Tenants take turns, so that a tenant with many callers delays only its own. */

interface Waiting { readonly bodies: Array<() => void>, readonly answers: Array<() => void> }
/** A tenant's bodies go before its answers. */
export type Kind = keyof Waiting

export class FairLine {
  /** In the order of their turns. */
  readonly #tenants = new Map<string, Waiting>()

  add (tenant: string, kind: Kind, caller: () => void): void {
    let waiting = this.#tenants.get(tenant)
    if (waiting === undefined) this.#tenants.set(tenant, waiting = { bodies: [], answers: [] })
    waiting[kind].push(caller)
  }

  /** A caller that no longer waits. */
  remove (tenant: string, kind: Kind, caller: () => void): void {
    const waiting = this.#tenants.get(tenant)
    const at = waiting?.[kind].indexOf(caller) ?? -1
    if (waiting === undefined || at < 0) return
    waiting[kind].splice(at, 1)
    if (waiting.bodies.length + waiting.answers.length === 0) this.#tenants.delete(tenant)
  }

  /** Takes the next caller whose tenant may have a place; that tenant's next turn comes after those of all others. */
  take (may: (tenant: string) => boolean): (() => void) | undefined {
    for (const [tenant, waiting] of this.#tenants) {
      if (!may(tenant)) continue
      const caller = waiting.bodies.shift() ?? waiting.answers.shift()
      this.#tenants.delete(tenant)
      if (waiting.bodies.length + waiting.answers.length > 0) this.#tenants.set(tenant, waiting)
      return caller
    }
    return undefined
  }
}
