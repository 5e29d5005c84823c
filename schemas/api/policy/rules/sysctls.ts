/** Lists of kernel parameters, whose last character may stand for all that follows. */
import type { Report } from '../../../language/types.js'
import { forbidden, invalid } from '../../../rules/findings.js'
import { lowerBound } from '../../../sorted.js'
import { SYSCTL_MAX, SYSCTL_SEGMENT } from '../../core/rules/security.js'

const PATTERN = `(${SYSCTL_SEGMENT}[\\./])*([a-z0-9][-_a-z0-9]*)?[a-z0-9*]`
const WHOLE = new RegExp(`^${PATTERN}$`)

export function checkSysctlPatterns (patterns: readonly string[], at: string, report: Report): void {
  let all = false
  for (const [index, pattern] of patterns.entries()) {
    const field = `${at}[${index}]`
    if (pattern === '') invalid(report, field, pattern, 'empty sysctl not allowed')
    else if (pattern.length > SYSCTL_MAX || !WHOLE.test(pattern)) invalid(report, field, pattern, `must have at most ${SYSCTL_MAX} characters and match regex ${PATTERN}`)
    else if (pattern.startsWith('*')) all = true
  }
  if (all && patterns.length > 1) forbidden(report, `${at}.items`, "if '*' is present, must not specify other sysctls")
}

/** The part before a wildcard; undefined for what has none. */
const prefixOf = (pattern: string): string | undefined => pattern.endsWith('*') ? pattern.slice(0, -1) : undefined

/** Whether all that the one covers is covered by the other; of two names only the same one. */
function covers (pattern: string, other: string): boolean {
  const prefix = prefixOf(pattern)
  return prefix === undefined ? pattern === other : (prefixOf(other) ?? other).startsWith(prefix)
}

/** Whether any of the patterns covers one or is covered by it, without a look at each: thousands may be compared with thousands. */
function overlapping (patterns: readonly string[]): (one: string) => boolean {
  const known = new Set(patterns)
  const beginnings = patterns.map(pattern => prefixOf(pattern) ?? pattern).sort()
  // Without those that begin with another of them, so that only the last before a text can be its beginning.
  const prefixes: string[] = []
  for (const prefix of patterns.flatMap(pattern => prefixOf(pattern) ?? []).sort()) if (prefixes.length === 0 || !prefix.startsWith(prefixes.at(-1) ?? '')) prefixes.push(prefix)
  return one => {
    const prefix = prefixOf(one)
    const beginning = prefix ?? one
    if (known.has(one)) return true
    const at = lowerBound(prefixes, beginning)
    if (prefixes[at] === beginning || (at > 0 && beginning.startsWith(prefixes[at - 1] ?? ''))) return true
    return prefix !== undefined && beginnings[lowerBound(beginnings, prefix)]?.startsWith(prefix) === true
  }
}

/** Told of the narrower one; of two that cover the same, of the one that is allowed. */
export function checkSysctlOverlaps (allowed: readonly string[], prohibited: readonly string[], at: string, report: Report): void {
  const overlaps = overlapping(prohibited)
  for (const [index, one] of allowed.entries()) {
    if (!overlaps(one)) continue
    for (const [other, pattern] of prohibited.entries()) {
      if (covers(pattern, one)) invalid(report, `${at}.allowedUnsafeSysctls[${index}]`, one, `sysctl overlaps with ${pattern}`)
      else if (covers(one, pattern)) invalid(report, `${at}.forbiddenSysctls[${other}]`, pattern, `sysctl overlaps with ${one}`)
    }
  }
}
