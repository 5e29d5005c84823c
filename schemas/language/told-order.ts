/**
 * In which order findings are told. Fields are walked as they are declared, and rules of a message run behind them; clients know
 * the order of the convention, which a message says as a list of its fields (`told`). What stands in one message of its own has been
 * put in order with it, but for what rules further out find in it; of lists of messages the members are told one after another.
 */
import type { FieldError } from '../status.js'
import type { Plan, PlannedField } from './plan.js'

const STEP = /^\.?([^.[]*)(?:\[(\d+)\])?/

/** Places of the steps of a path: that of the field, then that in its list. */
function placeOf (plan: Plan, path: string): number[] {
  const places: number[] = []
  let [at, rest]: [Plan | undefined, string] = [plan, path]
  while (at?.message.told !== undefined) {
    const [step = '', name = '', index] = STEP.exec(rest) ?? []
    const told: readonly string[] = at.message.told
    const through = told.indexOf(`${name}.`)
    const place = through === -1 ? told.indexOf(name) : through
    const field: PlannedField | undefined = at.byName.get(name)
    const isList: boolean = field?.shape === 'list' && field.message !== undefined && field.special === undefined
    places.push(place === -1 ? told.length : place, isList ? Number(index ?? -1) : -1)
    rest = rest.slice(step.length)
    at = isList || through !== -1 ? field?.plan : undefined
  }
  return places
}

/** Those of one place as they were found. */
export function inToldOrder (plan: Plan, at: string, found: readonly FieldError[]): readonly FieldError[] {
  if (found.length < 2) return found
  const placed = found.map(error => ({ error, places: placeOf(plan, error.field.slice(at.length)) }))
  const before = (a: readonly number[], b: readonly number[]): number => {
    const differs = a.findIndex((place, index) => place !== b[index])
    return differs === -1 ? 0 : (a[differs] ?? 0) - (b[differs] ?? -1)
  }
  return placed.sort((a, b) => before(a.places, b.places)).map(({ error }) => error)
}
