/** Flags that went with a release, and defaults that changed with one (`removed` and `later` of `flag.ts`). */
import { reaches, usualRelease, type Release } from '../schemas/meta/release.js'
import type { Parsed } from './command-line.js'
import { FlagError, type Flag } from './flag.js'
import { FLAGS, type FlagName } from './flags/index.js'

const LISTED = Object.entries(FLAGS) as Array<[FlagName, Flag<unknown>]> // flags differ in their value types

/** The release with which a flag went, if the emulated one does not have it any more. */
function goneWith (name: FlagName, release: Release): string | undefined {
  const { removed } = FLAGS[name] as Flag<unknown> // of any value type
  return removed !== undefined && reaches(release, removed) ? removed : undefined
}

/** Whether the emulated release has a flag. */
export const isThere = (name: FlagName, release: Release): boolean => goneWith(name, release) === undefined

/** The default of the emulated release, as on the command line. */
export const defaultTextOf = ({ later, defaultText }: Flag<unknown>, release: Release): string =>
  later !== undefined && reaches(release, later.since) ? later.defaultText : defaultText

/** @throws FlagError for a flag that the emulated release does not have any more */
export function withReleaseDefaults ({ values, given }: Parsed): Parsed {
  const release = given.has('emulated-version') ? values['emulated-version'] : usualRelease(values['compat-names'])
  for (const [name, text] of given) {
    const gone = goneWith(name, release)
    if (gone !== undefined) throw new FlagError(name, text, `went with release ${gone}; leave it out`)
  }
  const applied = LISTED.flatMap(([name, { later }]) =>
    later !== undefined && reaches(release, later.since) && !given.has(name) ? [[name, later.default] as const] : [])
  return { values: { ...values, 'emulated-version': release, ...Object.fromEntries(applied) }, given }
}
