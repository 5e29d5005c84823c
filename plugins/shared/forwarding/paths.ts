/** Normalizes and encodes forwarded paths as upstream does. */

/** Removes empty and dot segments; never leaves the root. Keeps a trailing slash. Returns '' for ''. */
export function cleanPath (path: string): string {
  if (path === '') return ''
  const kept: string[] = []
  for (const segment of path.split('/')) {
    if (segment === '..') kept.pop()
    else if (segment !== '' && segment !== '.') kept.push(segment)
  }
  const clean = `/${kept.join('/')}`
  return path.endsWith('/') && clean !== '/' ? `${clean}/` : clean
}

/** Characters that are not percent-encoded, besides letters, digits and `-_.~`. */
const KEPT: ReadonlySet<string> = new Set(['$', '&', '+', ',', '/', ':', ';', '=', '@'])

export const encodePath = (path: string): string => encodeURIComponent(path).replace(/%[0-9A-F]{2}|[!'()*]/g, text => {
  if (!text.startsWith('%')) return `%${text.charCodeAt(0).toString(16).toUpperCase()}`
  const plain = String.fromCharCode(Number.parseInt(text.slice(1), 16))
  return KEPT.has(plain) ? plain : text
})
