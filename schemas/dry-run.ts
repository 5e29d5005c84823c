/** Parses `dryRun`, a list in the query and in DeleteOptions: `All` requests a dry run, an empty list none. */
import { badRequest } from './status.js'

/** @throws StatusError 400 for any other value */
export function parseDryRun (values: readonly string[]): boolean {
  for (const value of values) {
    if (value !== '' && value !== 'All') {
      throw badRequest(
        `dryRun: unsupported value ${JSON.stringify(value.slice(0, 100))}; the only named value is "All"`
      )
    }
  }
  return values.includes('All')
}
