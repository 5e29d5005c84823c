/** The admission plugins that flags may name, as the catalogue has them. */
import { CATALOGUE } from '../admission/catalogue.js'
import { printable } from './flag.js'

const NAMES: ReadonlySet<string> = new Set(CATALOGUE.map(({ name }) => name))

export function admissionProblem (name: string): string | undefined {
  return NAMES.has(name) ? undefined : `"${printable(name)}" is not an admission plugin; the names are ${[...NAMES].sort().join(', ')}`
}
