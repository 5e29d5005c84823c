/** Start-up warnings about the Node version. */

/** First minor versions, by major version, that keep HTTP/2 header fields with surrounding blanks. */
const FIRST_MINORS: Readonly<Record<number, number>> = { 22: 17, 24: 2 }
const FIRST_MAJOR = 25

/** True if this Node version drops such fields, which the server cannot detect. */
export function losesFields (version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return major < FIRST_MAJOR && minor < (FIRST_MINORS[major] ?? Infinity)
}

export const runtimeWarnings = (version = process.versions.node): string[] => losesFields(version)
  ? [
    `Node ${version} drops HTTP/2 headers whose value begins or ends with a blank, credentials too: such a request ` +
      'is served without them, anonymously where that is allowed; run Node 22.17, 24.2 or a later one'
    ]
  : []
