/** Start-up warnings about the version of Node in use. */

/** The first versions of a line that can be told to keep header fields of HTTP/2 with blanks around their value. */
const KEEPING: Readonly<Record<number, number>> = { 22: 17, 24: 2 }
const ALL_KEEP = 25

/** Whether such a field never reaches the server, which cannot tell that it was sent. */
export function losesFields (version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return major < ALL_KEEP && minor < (KEEPING[major] ?? Infinity)
}

export const runtimeWarnings = (version = process.versions.node): string[] => losesFields(version)
  ? [`Node ${version} leaves out header fields of HTTP/2 whose value begins or ends with a blank, credentials too: who sends one is served as if it had not been sent, anonymously where that is allowed; run Node 22.17, 24.2 or a later one`]
  : []
