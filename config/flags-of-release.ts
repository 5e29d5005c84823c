/** Flags that went with a release, and defaults that changed with one (`removed` and `later` of `flag.ts`). */
import { SINCE, type Release } from '../schemas/meta/release.js'
import type { Parsed } from './command-line.js'
import { FlagError, type Flag } from './flag.js'
import { FLAGS, type FlagName } from './flags/index.js'

const LISTED = Object.entries(FLAGS) as Array<[FlagName, Flag<unknown>]> // flags differ in their value types

const inOrder = (release: string): number => SINCE.indexOf(release)

/** Whether a release has what came, or lacks what went, with another one. */
const reaches = (release: Release, since: string | undefined): boolean =>
  since !== undefined && inOrder(release) >= inOrder(since)

/** Whether the emulated release has a flag. */
export const isThere = (name: FlagName, release: Release): boolean =>
  !reaches(release, (FLAGS[name] as Flag<unknown>).removed) // of any value type

/** The default of the emulated release, as on the command line. */
export const defaultTextOf = ({ later, defaultText }: Flag<unknown>, release: Release): string =>
  later !== undefined && reaches(release, later.since) ? later.defaultText : defaultText

/** @throws FlagError for a flag that the emulated release does not have any more */
export function withReleaseDefaults ({ values, given }: Parsed): Parsed {
  const { 'emulated-version': release } = values
  for (const [name, text] of given) {
    const { removed } = FLAGS[name] as Flag<unknown> // of any value type
    if (reaches(release, removed)) {
      throw new FlagError(name, text, `went with release ${removed ?? ''}; leave it out`)
    }
  }
  const applied = LISTED.flatMap(([name, { later }]) =>
    later !== undefined && reaches(release, later.since) && !given.has(name) ? [[name, later.default] as const] : [])
  return { values: { ...values, ...Object.fromEntries(applied) }, given }
}
