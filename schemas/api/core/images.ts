/** Names of images, such as `registry.example:5000/team/web:1.2@sha256:…`. */

const HOST = /^(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])(?:\.(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9]))*(?::\d+)?$/
const PATH = /^[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*$/
const TAG = /^\w[\w.-]{0,127}$/
const DIGEST = /^(?:sha256:[0-9a-f]{64}|sha384:[0-9a-f]{96}|sha512:[0-9a-f]{128})$/
/** A bare identifier of an image, which is no name. */
const IDENTIFIER = /^[0-9a-f]{64}$/
/** Of the name with its host, which is this one where none is said. */
const MOST_CHARACTERS = 255
/** With the longest tag and digest: what is longer need not be looked at. */
const MOST_IN_ALL = MOST_CHARACTERS + ':'.length + 128 + '@sha512:'.length + 128
const HUB = 'docker.io/'
const OFFICIAL = 'library/'

/** The tag an image is pulled by: `latest` where it names neither a tag nor a digest, '' for what is no name of an image. */
export function tagOf (image: string): string {
  if (image.length > MOST_IN_ALL || IDENTIFIER.test(image)) return ''
  const at = image.indexOf('@')
  const digest = at < 0 ? undefined : image.slice(at + 1)
  const tagged = at < 0 ? image : image.slice(0, at)
  const colon = tagged.lastIndexOf(':')
  const tag = colon > tagged.lastIndexOf('/') ? tagged.slice(colon + 1) : undefined
  const name = tag === undefined ? tagged : tagged.slice(0, colon)
  if (!isName(name) || (digest !== undefined && !DIGEST.test(digest)) || (tag !== undefined && !TAG.test(tag))) return ''
  return tag ?? (digest === undefined ? 'latest' : '')
}

function isName (name: string): boolean {
  const slash = name.indexOf('/')
  const first = name.slice(0, Math.max(slash, 0))
  // What stands first is a host when it looks like one, though a part of a path will do; else it is a part of the path.
  const hasHost = /[.:]/.test(first) || first === 'localhost'
  const path = hasHost ? name.slice(slash + 1) : name
  const implied = hasHost ? 0 : HUB.length + (slash < 0 ? OFFICIAL.length : 0)
  return name.length + implied <= MOST_CHARACTERS && (!hasHost || HOST.test(first) || PATH.test(first)) && path.split('/').every(part => PATH.test(part))
}
