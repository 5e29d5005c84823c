/** The admission plugin names that flags accept. */
import { CATALOGUE } from '../admission/catalogue.js'
import { didYouMean } from './suggestions.js'

const NAMES: ReadonlySet<string> = new Set(CATALOGUE.map(({ name }) => name))
const names = (byDefault: boolean): string =>
  CATALOGUE.filter(entry => entry.default === byDefault).map(({ name }) => name).join(', ')

/** For `--help`, in order of execution. */
export const NAMES_ON = names(true)
export const NAMES_OFF = names(false)

export function admissionProblem (name: string): string | undefined {
  return NAMES.has(name)
    ? undefined
    : `is not an admission plugin; the names are ${[...NAMES].sort().join(', ')}${didYouMean(name, [...NAMES])}`
}
