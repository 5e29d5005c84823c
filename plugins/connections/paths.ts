/** Paths as they are passed on: decoded, made plain, and encoded again, as the convention does it. */

/** Without empty segments and dots, none above the root. Keeps a slash at the end. '' for ''. */
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

/** What a path may have besides letters, digits and `-_.~`; everything else is percent-encoded. */
const KEPT: ReadonlySet<string> = new Set(['$', '&', '+', ',', '/', ':', ';', '=', '@'])

export const encodePath = (path: string): string => encodeURIComponent(path).replace(/%[0-9A-F]{2}|[!'()*]/g, text => {
  if (!text.startsWith('%')) return `%${text.charCodeAt(0).toString(16).toUpperCase()}`
  const plain = String.fromCharCode(Number.parseInt(text.slice(1), 16))
  return KEPT.has(plain) ? plain : text
})
