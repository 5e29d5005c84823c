/** The configuration of PodSecurity: defaults for namespaces without labels, and exemptions. */
import { apiPackage, list, one, string } from '../../schemas/language/declare.js'
import { dnsLabel, dnsSubdomain } from '../../schemas/names.js'
import { readConfiguration, ConfigurationError, type PluginConfiguration } from '../configuration.js'
import { MODES, LEVEL_RULE, parseLevel, parseVersion, VERSION_RULE, type Policy, type LevelVersion } from './policy.js'

const NAME = 'PodSecurity'
const GROUP = 'pod-security.admission.config.orch.io'

export interface PodSecuritySettings {
  readonly defaults: Policy
  readonly usernames: ReadonlySet<string>
  readonly namespaces: ReadonlySet<string>
  readonly runtimeClasses: ReadonlySet<string>
}

const PRIVILEGED: LevelVersion = { level: 'privileged', minor: Infinity }
const NO_NAMES: ReadonlySet<string> = new Set()
const DEFAULTS: PodSecuritySettings = {
  defaults: { enforce: PRIVILEGED, audit: PRIVILEGED, warn: PRIVILEGED }, usernames: NO_NAMES, namespaces: NO_NAMES,
  runtimeClasses: NO_NAMES
}

/** All versions are identical. */
function declared (version: string) {
  const { message, kind } = apiPackage(GROUP, version, `io.orch.podsecurity.${version}`)
  const level = (what: string) => string(null, `Level to ${what}.`, { default: 'privileged' })
  const release = (what: string) => string(null, `Release whose level is meant to ${what}.`, { default: 'latest' })
  return kind('PodSecurityConfiguration', 'What pods are held to.', {
    defaults: one(null, 'For namespaces without labels.', message('PodSecurityDefaults', 'Levels by mode.', {
      enforce: level('enforce'), 'enforce-version': release('enforce'), audit: level('audit'),
      'audit-version': release('audit'), warn: level('warn of'), 'warn-version': release('warn of')
    })),
    exemptions: one(null, 'Who is held to nothing.', message('PodSecurityExemptions', 'By name.', {
      usernames: list(null, 'Users.', 'string'), namespaces: list(null, 'Namespaces.', 'string'),
      runtimeClasses: list(null, 'Runtime classes.', 'string')
    }))
  })
}

const VERSIONS = ['v1', 'v1beta1', 'v1alpha1'].map(declared)

/** @throws ConfigurationError */
export function podSecuritySettings (given: PluginConfiguration | undefined): PodSecuritySettings {
  if (given === undefined) return DEFAULTS
  const { defaults, exemptions } = readConfiguration(NAME, given, VERSIONS)
  const refuse = (field: string, value: string, why: string): never => {
    throw new ConfigurationError(NAME, given, `${field}: Invalid value: ${JSON.stringify(value)}: ${why}`)
  }
  const [enforce = PRIVILEGED, audit = PRIVILEGED, warn = PRIVILEGED] = MODES.map(mode => {
    const level = defaults[mode] ?? 'privileged'
    const version = defaults[`${mode}-version`] ?? 'latest'
    return {
      level: parseLevel(level) ?? refuse(`defaults.${mode}`, level, LEVEL_RULE),
      minor: parseVersion(version) ?? refuse(`defaults.${mode}-version`, version, VERSION_RULE)
    }
  })
  const names = (
    member: 'usernames' | 'namespaces' | 'runtimeClasses', problems: (name: string) => readonly string[]
  ): ReadonlySet<string> => {
    const seen = new Set<string>()
    for (const [index, name] of (exemptions[member] ?? []).entries()) {
      const [problem] = problems(name)
      if (problem !== undefined) refuse(`exemptions.${member}[${index}]`, name, problem)
      if (seen.has(name)) refuse(`exemptions.${member}[${index}]`, name, 'it is there already')
      seen.add(name)
    }
    return seen
  }
  return {
    defaults: { enforce, audit, warn },
    usernames: names('usernames', name => name === '' ? ['a user has a name'] : []),
    namespaces: names('namespaces', dnsLabel),
    runtimeClasses: names('runtimeClasses', dnsSubdomain)
  }
}
