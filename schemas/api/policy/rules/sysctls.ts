/** Validation of sysctl patterns, which may end in the wildcard `*`. */
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
    else if (pattern.length > SYSCTL_MAX ||
      !WHOLE.test(pattern)) {
      invalid(
        report, field, pattern, `must have at most ${SYSCTL_MAX} characters and match regex ${PATTERN}`
      )
    } else if (pattern.startsWith('*')) all = true
  }
  if (all && patterns.length > 1) forbidden(report, `${at}.items`, "if '*' is present, must not specify other sysctls")
}

/** The part before the wildcard; undefined without one. */
const prefixOf = (pattern: string): string | undefined => pattern.endsWith('*') ? pattern.slice(0, -1) : undefined

/** Whether `pattern` matches everything that `other` matches. */
function covers (pattern: string, other: string): boolean {
  const prefix = prefixOf(pattern)
  return prefix === undefined ? pattern === other : (prefixOf(other) ?? other).startsWith(prefix)
}

/**
 * A predicate: whether a pattern covers one of `patterns` or is covered by one. Sorted search, because lists may have
 * thousands.
 */
function overlapping (patterns: readonly string[]): (sysctl: string) => boolean {
  const known = new Set(patterns)
  const beginnings = patterns.map(pattern => prefixOf(pattern) ?? pattern).sort()
  // Omits prefixes that extend another one, so that only the last one sorted before a text can be a prefix of it.
  const prefixes: string[] = []
  for (const prefix of patterns.flatMap(pattern => prefixOf(pattern) ?? []).sort()) {
    if (prefixes.length === 0 || !prefix.startsWith(prefixes.at(-1) ?? '')) prefixes.push(prefix)
  }
  return sysctl => {
    const prefix = prefixOf(sysctl)
    const beginning = prefix ?? sysctl
    if (known.has(sysctl)) return true
    const at = lowerBound(prefixes, beginning)
    if (prefixes[at] === beginning || (at > 0 && beginning.startsWith(prefixes[at - 1] ?? ''))) return true
    return prefix !== undefined && beginnings[lowerBound(beginnings, prefix)]?.startsWith(prefix) === true
  }
}

/** Reports the narrower of two overlapping patterns; of two equal ones, the allowed one. */
export function checkSysctlOverlaps (
  allowed: readonly string[], prohibited: readonly string[], at: string, report: Report
): void {
  const overlaps = overlapping(prohibited)
  for (const [index, sysctl] of allowed.entries()) {
    if (!overlaps(sysctl)) continue
    for (const [other, pattern] of prohibited.entries()) {
      if (covers(
        pattern, sysctl
      )) invalid(report, `${at}.allowedUnsafeSysctls[${index}]`, sysctl, `sysctl overlaps with ${pattern}`)
      else if (covers(sysctl, pattern)) {
        invalid(report, `${at}.forbiddenSysctls[${other}]`, pattern, `sysctl overlaps with ${sysctl}`)
      }
    }
  }
}
