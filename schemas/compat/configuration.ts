/** Configuration files of the public project: every name in them becomes ours. */
import { isObject } from '../language/values.js'
import type { Plain } from '../language/types.js'
import { CONFIGURATION_GROUPS } from './names.js'
import { translateLabelSelector, translatePattern } from './requests.js'
import {
  ambiguousNames, namesOfRule, ofGroup, translateGroup, translateKey, translateNamespace, translateQuota, translateUser,
  type Translation
} from './text.js'

/** Files say by the group of their apiVersion whose names they have. */
const GROUPS: ReadonlyMap<string, string> = new Map(CONFIGURATION_GROUPS)

const groupOf = (apiVersion: string): string => apiVersion.split('/', 1)[0] ?? ''

type Step = (document: Plain) => void

/** Translates the texts at a path such as `rules[].users[]`. */
const texts = (path: string, of: Translation): Step => document => {
  visit(document, path.split('.'), value => typeof value === 'string' ? of(value) : value)
}
/** Calls a function with the objects at a path. */
const objects = (path: string, change: Step): Step => document => {
  visit(document, path.split('.'), value => {
    if (isObject(value)) change(value)
    return value
  })
}

function visit (object: Plain, [step = '', ...rest]: readonly string[], change: (value: unknown) => unknown): void {
  const name = step.replace('[]', '')
  const changed = (value: unknown): unknown => {
    if (rest.length === 0) return change(value)
    if (isObject(value)) visit(value, rest, change)
    return value
  }
  const value = object[name]
  if (value === undefined) return
  if (step === name) object[name] = changed(value)
  else if (Array.isArray(value)) object[name] = value.map(changed)
}

const textsIn = (value: unknown): string[] => Array.isArray(value) ? value.filter(text => typeof text === 'string') : []

/** Names of objects by the resources beside them. @throws Error where those disagree */
function resourceNames (rule: Plain): void {
  const groups = [typeof rule['group'] === 'string' ? rule['group'] : '']
  const [resources, names] = [textsIn(rule['resources']), textsIn(rule['resourceNames'])]
  if (names.length === 0) return
  const [ambiguous] = ambiguousNames(groups, resources, names)
  if (ambiguous !== undefined) {
    const why = `the resources ${resources.join(', ')} do not agree about what is called ${ambiguous}`
    throw new Error(`rules[].resources[].resourceNames: ${why}; write an entry for each`)
  }
  rule['resourceNames'] = names.map(namesOfRule(groups, resources))
}

/** A part of the name of what a quota limits. */
const CLASS = /(?<=storageclass\.storage\.)(?:k8s|orch)(?=\.io)/
const partOfQuota: Translation = text =>
  CLASS.test(text) ? text.replace(CLASS, domain => domain === 'k8s' ? 'orch' : 'k8s') : translateQuota(text)

const AUDIT: readonly Step[] = [
  texts('rules[].users[]', translateUser),
  texts('rules[].userGroups[]', translateUser),
  texts('rules[].namespaces[]', translateNamespace),
  texts('rules[].nonResourceURLs[]', translatePattern),
  objects('rules[].resources[]', resourceNames),
  texts('rules[].resources[].group', translateGroup)
]
const LIMITED: readonly Step[] = [
  texts('limitedResources[].apiGroup', translateGroup),
  texts('limitedResources[].matchContains[]', partOfQuota)
]
const TOLERATIONS: readonly Step[] = [texts('default[].key', translateKey), texts('whitelist[].key', translateKey)]
const EXEMPTIONS: readonly Step[] = [
  texts('exemptions.usernames[]', translateUser),
  texts('exemptions.namespaces[]', translateNamespace)
]
const POLICY: readonly Step[] = [
  texts('spec.user', translateUser), texts('spec.group', translateUser), texts('spec.apiGroup', translateGroup),
  texts('spec.namespace', translateNamespace), texts('spec.nonResourcePath', translatePattern)
]

/** By kind, and by the group where several have one of this name. */
const STEPS: Readonly<Record<string, readonly Step[]>> = {
  'audit.k8s.io Policy': AUDIT,
  'abac.authorization.kubernetes.io Policy': POLICY,
  'apiserver.config.k8s.io EncryptionConfiguration': [texts('resources[].resources[]', ofGroup)],
  'apiserver.config.k8s.io ResourceQuotaConfiguration': LIMITED,
  'resourcequota.admission.k8s.io Configuration': LIMITED,
  'podtolerationrestriction.admission.k8s.io Configuration': TOLERATIONS,
  'pod-security.admission.config.k8s.io PodSecurityConfiguration': EXEMPTIONS
}

/** Node selectors by namespace, a document without a kind. */
function nodeSelectors (document: Plain): void {
  const selectors = document['podNodeSelectorPluginConfig']
  if (!isObject(selectors)) return
  const named = Object.entries(selectors).map(([namespace, selector]) =>
    [translateNamespace(namespace), typeof selector === 'string' ? translateLabelSelector(selector) : selector])
  document['podNodeSelectorPluginConfig'] = Object.fromEntries(named)
}

/**
 * The document, changed in place, under our names, if it has public ones.
 * @param kindless whether a document without a kind has public names: if the file that refers to it has
 * @throws Error that says what is ambiguous
 */
export function ownConfiguration (document: unknown, kindless = true): unknown {
  if (!isObject(document)) return document
  const { apiVersion, kind } = document
  if (typeof apiVersion !== 'string') {
    if (kindless) nodeSelectors(document)
    return document
  }
  const group = groupOf(apiVersion)
  const own = GROUPS.get(group)
  if (own === undefined) return document
  document['apiVersion'] = own + apiVersion.slice(group.length)
  for (const step of STEPS[`${group} ${String(kind)}`] ?? []) step(document)
  return document
}

/** Whether a document says that it has public names. */
export const isPublicConfiguration = (document: unknown): boolean =>
  isObject(document) && typeof document['apiVersion'] === 'string' && GROUPS.has(groupOf(document['apiVersion']))

/** Policies, one JSON document a line. Lines that are none stay as they are, for the reader to refuse. */
export const ownPolicies = (content: string): string => content.split('\n').map(line => {
  try {
    const policy: unknown = JSON.parse(line)
    return isPublicConfiguration(policy) ? JSON.stringify(ownConfiguration(policy)) : line
  } catch {
    return line
  }
}).join('\n')
