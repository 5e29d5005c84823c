/** The level of the pod security standards for a namespace in each mode, from its labels and the defaults. */
import type { FieldError } from '../../schemas/status.js'

export const LEVELS = ['privileged', 'baseline', 'restricted'] as const
export type Level = typeof LEVELS[number]

/** A level as of a minor release, or the latest. */
export interface LevelVersion { readonly level: Level, /** Infinity for the latest. */ readonly minor: number }

export interface Policy { readonly enforce: LevelVersion, readonly audit: LevelVersion, readonly warn: LevelVersion }

export const MODES = ['enforce', 'audit', 'warn'] as const

const PREFIX = 'pod-security.orch.io/'
const VERSION = /^v1\.(0|[1-9]\d{0,8})$/

export const showPolicy = ({ level, minor }: LevelVersion): string =>
  `${level}:${minor === Infinity ? 'latest' : `v1.${minor}`}`

/** @returns undefined if invalid */
export const parseLevel = (text: string): Level | undefined => LEVELS.find(level => level === text)
/** As `LevelVersion.minor`. @returns undefined if invalid */
export function parseVersion (text: string): number | undefined {
  if (text === 'latest') return Infinity
  const digits = VERSION.exec(text)?.[1]
  return digits === undefined ? undefined : Number(digits)
}

export const LEVEL_RULE = `must be one of ${LEVELS.join(', ')}`
export const VERSION_RULE = 'must be "latest" or "v1.x"'

/**
 * The policy of a namespace, with findings for invalid labels. An invalid enforce label means the strictest level,
 * other invalid ones mean privileged.
 * @param warnsAsEnforced where nothing says of what to warn, that is what is enforced
 */
export function policyOf (
  labels: Readonly<Record<string, string>> | undefined, defaults: Policy, warnsAsEnforced = false
): { readonly policy: Policy, readonly findings: readonly FieldError[] } {
  const findings: FieldError[] = []
  if (labels === undefined) return { policy: defaults, findings }
  const levels: Record<typeof MODES[number], LevelVersion> = { ...defaults }
  const label = (name: string): string | undefined =>
    Object.hasOwn(labels, PREFIX + name) ? labels[PREFIX + name] : undefined
  const finding = (name: string, value: string, detail: string): void => {
    findings.push({ type: 'FieldValueInvalid', field: `metadata.labels[${PREFIX}${name}]`, value, detail })
  }
  for (const mode of MODES) {
    const level = label(mode)
    if (level !== undefined) {
      const parsed = parseLevel(level)
      if (parsed === undefined) finding(mode, level, LEVEL_RULE)
      levels[mode] = { ...levels[mode], level: parsed ?? (mode === 'enforce' ? 'restricted' : 'privileged') }
    }
    const version = label(`${mode}-version`)
    if (version === undefined) continue
    const parsed = parseVersion(version)
    if (parsed === undefined) finding(`${mode}-version`, version, VERSION_RULE)
    levels[mode] = { ...levels[mode], minor: parsed ?? Infinity }
  }
  const isOnlyEnforced = label('warn') === undefined && label('enforce') !== undefined
  const isStricter = LEVELS.indexOf(levels.enforce.level) > LEVELS.indexOf(levels.warn.level)
  if (warnsAsEnforced && isOnlyEnforced && isStricter) levels.warn = levels.enforce
  return { policy: levels, findings }
}
