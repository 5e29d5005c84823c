/** The response of `/version`. */
import { string, apiPackage, type Static } from '../language/declare.js'

const { message } = apiPackage('', '', 'io.orch.apimachinery.pkg.version', { name: 'version' })

const stated = { required: true, mayBeEmpty: true } as const

const later = { since: '1.33' } as const

export type Info = Static<typeof Info>
export const Info = message('Info', 'Which release and which build a server is.', {
  major: string(null, 'Major version of the release whose interface is served.', stated),
  minor: string(null, 'Minor version of the release whose interface is served.', stated),
  emulationMajor: string(null, 'Major version of the release that is emulated.', later),
  emulationMinor: string(null, 'Minor version of the release that is emulated.', later),
  minCompatibilityMajor: string(null, 'Major version of the oldest release that can read what is stored.', later),
  minCompatibilityMinor: string(null, 'Minor version of the oldest release that can read what is stored.', later),
  gitVersion: string(null, 'Release that is served, and version of the package.', stated),
  gitCommit: string(null, 'Commit that was built, or a digest of what was built elsewhere than in a clone.', stated),
  gitTreeState: string(null, 'Whether the clone was clean or dirty; archive elsewhere.', stated),
  buildDate: string(null, 'Empty: a build has no date in it.', stated),
  goVersion: string(null, 'Empty: there is no Go in it.', stated),
  compiler: string(null, 'Version of Node that runs it.', stated),
  platform: string(null, 'Operating system and processor architecture.', stated)
}, { protobuf: false })
