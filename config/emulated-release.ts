/**
 * Flags that name the release whose behaviour a server has, `--emulated-version` and `dev --release`, and the oldest
 * one that has to read what it stores, `--min-compatibility-version`.
 */
import { READERS, RELEASE_NAME, RELEASES, SINCE, type Release } from '../schemas/meta/release.js'
import { Problem, type Flag } from './flag.js'

/** This server, under its own name and the public one. */
export const COMPONENTS: readonly string[] = ['orch', 'kube']

const ONE_OF = `must be one of ${RELEASES.join(', ')}`

const isRelease = (release: string): release is Release => RELEASES.some(known => known === release)

/**
 * The version in `1.36`, `v1.36`, `1.36.0`, `orch=1.36`; a list in which the server stands once, as users of the public
 * flags write it.
 */
function versionIn (text: string, before: string | undefined): string {
  const items = text.split(',').map(item => item.trim())
  const [first = '', second] = items
  const at = first.indexOf('=')
  const [component, version] = [first.slice(0, Math.max(0, at)), first.slice(at + 1)]
  if (at >= 0 && !COMPONENTS.includes(component)) {
    throw new Problem(`"${component}" is no component of this server; write orch=${version}, or the release alone`)
  }
  if (second !== undefined || before !== undefined) {
    throw new Problem('gives more than one release: this server has one')
  }
  return version
}

/** Without the leading `v` and a patch of 0. @param mend what is allowed */
function minorOf (version: string, mend: string): string {
  const [, minor, patch = '0'] = /^v?(\d+\.\d+)(?:\.(\d+))?$/.exec(version) ?? []
  if (minor === undefined) throw new Problem(mend)
  if (patch !== '0') throw new Problem(`must be a release, without a patch: ${minor}`)
  return minor
}

function aRelease (value: unknown): Release {
  if (typeof value !== 'string' || !isRelease(value)) throw new Problem(ONE_OF)
  return value
}

export const emulatedRelease = (help: string): Flag<Release> => ({
  type: RELEASES.join('|'),
  default: RELEASE_NAME,
  defaultText: RELEASE_NAME,
  bare: false,
  help,
  parse: (text, before) => aRelease(minorOf(versionIn(text, before), ONE_OF)),
  accept: aRelease
})

const A_MINOR = `must be a release between ${RELEASE_NAME} and ${SINCE.at(-1) ?? RELEASE_NAME}`

function aMinor (value: unknown): string {
  if (typeof value !== 'string' || ![RELEASE_NAME, ...SINCE].includes(value)) throw new Problem(A_MINOR)
  return value
}

/** The empty string stands for the default of the emulated release. */
export const readingRelease = (help: string): Flag<string> => ({
  type: 'release',
  default: '',
  defaultText: '',
  bare: false,
  help,
  parse: (text, before) => aMinor(minorOf(versionIn(text, before), A_MINOR)),
  accept: aMinor
})

/** Describes a release that is not among those that may have to read what a server of the emulated one stores. */
export function readerProblem (reader: string, emulated: Release): string | undefined {
  const { [emulated]: readers } = READERS
  if (readers.includes(reader)) return undefined
  const [oldest = emulated] = readers
  return oldest === emulated
    ? `must be ${emulated} where that release is emulated`
    : `must be between ${oldest} and the emulated release ${emulated}`
}
