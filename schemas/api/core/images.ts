/** Image references, such as `registry.example:5000/team/web:1.2@sha256:…`. */
const LABEL = '(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])'
const HOST = new RegExp(`^${LABEL}(?:\\.${LABEL})*(?::\\d+)?$`)
const PATH = /^[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*$/
const TAG = /^\w[\w.-]{0,127}$/
const DIGEST = /^(?:sha256:[0-9a-f]{64}|sha384:[0-9a-f]{96}|sha512:[0-9a-f]{128})$/
/** An image ID, which is not a reference. */
const IDENTIFIER = /^[0-9a-f]{64}$/
/** Length of a name, including the default host and path. */
const MAX_CHARACTERS = 255
/** Length of a reference with the longest tag and digest. */
const MAX_TOTAL = MAX_CHARACTERS + ':'.length + 128 + '@sha512:'.length + 128
const HUB = 'docker.io/'
const OFFICIAL = 'library/'

/** The tag of an image: `latest` without a tag and digest, '' for a digest or a malformed reference. */
export function tagOf (image: string): string {
  if (image.length > MAX_TOTAL || IDENTIFIER.test(image)) return ''
  const at = image.indexOf('@')
  const digest = at < 0 ? undefined : image.slice(at + 1)
  const tagged = at < 0 ? image : image.slice(0, at)
  const colon = tagged.lastIndexOf(':')
  const tag = colon > tagged.lastIndexOf('/') ? tagged.slice(colon + 1) : undefined
  const name = tag === undefined ? tagged : tagged.slice(0, colon)
  if (!isName(name) || (digest !== undefined && !DIGEST.test(digest)) || (tag !== undefined && !TAG.test(tag))) {
    return ''
  }
  return tag ?? (digest === undefined ? 'latest' : '')
}

function isName (name: string): boolean {
  const slash = name.indexOf('/')
  const first = name.slice(0, Math.max(slash, 0))
  // The first segment is the host if it contains `.` or `:`, or is localhost.
  const hasHost = /[.:]/.test(first) || first === 'localhost'
  const path = hasHost ? name.slice(slash + 1) : name
  const implied = hasHost ? 0 : HUB.length + (slash < 0 ? OFFICIAL.length : 0)
  return name.length + implied <= MAX_CHARACTERS && (!hasHost || HOST.test(first) || PATH.test(first)) &&
    path.split('/').every(part => PATH.test(part))
}
