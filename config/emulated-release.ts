/** Flags that name the release whose behaviour a server has, `--emulated-version` and `dev --release`. */
import { RELEASE_NAME, RELEASES, type Release } from '../schemas/meta/release.js'
import { Problem, type Flag } from './flag.js'

/** This server, under its own name and the public one. */
const COMPONENTS: readonly string[] = ['orch', 'kube']

const ONE_OF = `must be one of ${RELEASES.join(', ')}`

/**
 * `1.36`, `v1.36`, `1.36.0`, `orch=1.36`; a list in which the server stands once, as users of the public flag write it.
 */
function read (text: string, before: Release | undefined): Release {
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
  return releaseOf(version)
}

function releaseOf (version: string): Release {
  const [, minor, patch = '0'] = /^v?(\d+\.\d+)(?:\.(\d+))?$/.exec(version) ?? []
  const release = RELEASES.find(known => known === minor)
  if (release === undefined) throw new Problem(ONE_OF)
  if (patch !== '0') throw new Problem(`must be a release, without a patch: ${release}`)
  return release
}

export const emulatedRelease = (help: string): Flag<Release> => ({
  type: RELEASES.join('|'),
  default: RELEASE_NAME,
  defaultText: RELEASE_NAME,
  bare: false,
  help,
  parse: read,
  accept: value => { if (!RELEASES.some(release => release === value)) throw new Problem(ONE_OF) }
})
