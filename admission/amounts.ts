import { compareQuantities, decimalQuantity, sumQuantities } from '../schemas/meta/quantity.js'

/** Quantities by resource name. */
export type Amounts = Readonly<Record<string, string>>

/** Sums of the resources that all arguments have, in decimal format. */
export function total (all: ReadonlyArray<Amounts | undefined>): Amounts {
  const [first, ...others] = all
  const shared = Object.keys(first ?? {})
    .filter(name => others.every(amounts => amounts !== undefined && Object.hasOwn(amounts, name)))
  return Object.fromEntries(shared.map(name =>
    [name, decimalQuantity(
      all.map(amounts => amounts?.[name] ?? '0').reduce((sum, amount) => sumQuantities(sum, amount))
    )]))
}

/** The maximum of each resource. */
export function largest (all: readonly Amounts[]): Amounts {
  const totals: Record<string, string> = Object.create(null) as Record<string, string>
  for (const amounts of all) {
    for (const [name, amount] of Object.entries(amounts)) {
      const before = totals[name]
      if (before === undefined || compareQuantities(amount, before) > 0) totals[name] = amount
    }
  }
  return { ...totals }
}

/** The sum of each resource. */
export function sumOf (all: readonly Amounts[]): Amounts {
  const totals: Record<string, string> = Object.create(null) as Record<string, string>
  for (const amounts of all) {
    for (const [name, amount] of Object.entries(amounts)) {
      const before = totals[name]
      totals[name] = before === undefined ? amount : sumQuantities(before, amount)
    }
  }
  return { ...totals }
}

/** The sum of each resource. */
export function plus (one: Amounts, other: Amounts): Amounts {
  const sum: Record<string, string> = { ...one }
  for (const [name, amount] of Object.entries(other)) {
    sum[name] = Object.hasOwn(one, name) ? sumQuantities(one[name] ?? '0', amount) : amount
  }
  return sum
}

/** The difference of each resource of the first, at least 0. */
export function minus (one: Amounts, other: Amounts): Amounts {
  return Object.fromEntries(Object.entries(one).map(([name, amount]) => {
    const rest = Object.hasOwn(other, name) ? sumQuantities(amount, other[name] ?? '0', -1) : amount
    return [name, compareQuantities(rest, '0') < 0 ? '0' : rest]
  }))
}

/** The named resources only. */
export const pick = (amounts: Amounts, names: ReadonlySet<string>): Amounts =>
  Object.fromEntries(Object.entries(amounts).filter(([name]) => names.has(name)))

/** The nonzero resources only. */
export const nonZero = (amounts: Amounts): Amounts =>
  Object.fromEntries(Object.entries(amounts).filter(([, amount]) => compareQuantities(amount, '0') !== 0))

/** Whether both are equal, in any notation. */
export const equal = (one: Amounts, other: Amounts): boolean =>
  Object.keys(one).length === Object.keys(other).length && Object.entries(one)
    .every(([name, amount]) => Object.hasOwn(other, name) && compareQuantities(amount, other[name]) === 0)

/** `cpu=1,pods=2` */
export const amountsText = (amounts: Amounts): string =>
  Object.entries(amounts).map(([name, amount]) => `${name}=${amount}`).sort().join(',')
