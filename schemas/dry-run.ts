/** The values of `dryRun`, of which the query and DeleteOptions have a list each: `All` is a dry run, empty is none. */
import { badRequest } from './status.js'

/** @throws StatusError 400 on any other value. */
export function parseDryRun (values: readonly string[]): boolean {
  for (const value of values) {
    if (value !== '' && value !== 'All') throw badRequest(`dryRun: unsupported value ${JSON.stringify(value.slice(0, 100))}; the only named value is "All"`)
  }
  return values.includes('All')
}
