/** Warnings for writers of pods and pod templates, about deprecated, non-functional or ambiguous fields. */
import type { Gates } from '../../../gates.js'
import { isWhole } from '../../../meta/quantity.js'
import type { ObjectMeta } from '../../../meta/object.js'
import { ofChanges, type Warn } from '../../../rules/warned.js'
import type { PodSpec, PodTemplateSpec } from '../pod-spec.js'
import { SECCOMP_OF_CONTAINER, SECCOMP_OF_POD } from './annotations.js'
import { warnOfAppArmor } from './apparmor.js'
import { nameWarnings, warnOfLater } from './later-warnings.js'
import { warnOfPodVolumes } from './gone-volumes.js'
import { goneLabel } from './node-labels.js'
import { containersOf } from './visit.js'

const ANNOTATIONS: ReadonlyArray<readonly [key: string, text: string]> = [
  ['scheduler.alpha.orch.io/critical-pod', 'non-functional in v1.16+; use the "priorityClassName" field instead'],
  ['security.alpha.orch.io/sysctls', 'non-functional in v1.11+; use the "sysctls" field instead'],
  ['security.alpha.orch.io/unsafe-sysctls', 'non-functional in v1.11+; use the "sysctls" field instead']
]
const SECCOMP = 'deprecated since v1.19, non-functional in v1.25+; use the "seccompProfile" field instead'

/** Resources counted in whole bytes. */
const BYTES = ['memory', 'ephemeral-storage']

type Amounts = Readonly<Record<string, string>> | undefined

/** @param at path of the template; '' for a pod */
export function podWarnings (
  { metadata, spec }: { metadata: Pick<ObjectMeta, 'annotations'>, spec: PodSpec }, at: string, gates?: Gates
): string[] {
  const warnings: string[] = []
  const warn: Warn = text => { warnings.push(text) }
  const [specPath, annotationsPath] = at === ''
    ? ['spec', 'metadata.annotations']
    : [`${at}.spec`, `${at}.metadata.annotations`]
  const isLater = gates?.enabled('WarningsOfTypes') === true
  warnOfNodeLabels(spec, specPath, key => goneLabel(key, isLater), warn)
  warnOfAnnotations(metadata.annotations, spec, annotationsPath, warn)
  warnOfPodVolumes(spec, specPath, isLater, warn)
  repeated(spec.hostAliases, 'ip', `${specPath}.hostAliases`, warn)
  repeated(spec.imagePullSecrets, 'name', `${specPath}.imagePullSecrets`, warn)
  for (const [index, { name }] of (spec.imagePullSecrets ?? []).entries()) {
    if ((name ?? '') === '') warn(`${specPath}.imagePullSecrets[${index}].name: invalid empty name ""`)
  }
  fractional(spec.overhead, `${specPath}.overhead`, warn)
  for (const [{ resources, env }, path] of containersOf(spec, specPath)) {
    fractional(resources.limits, `${path}.resources.limits`, warn)
    fractional(resources.requests, `${path}.resources.requests`, warn)
    if (!isLater) repeated(env, 'name', `${path}.env`, warn)
  }
  if (isLater) warnOfLater(spec, specPath, warn)
  if (isLater && at !== '') warnOfAppArmor(metadata.annotations, spec, annotationsPath, warn)
  return warnings
}

function warnOfNodeLabels (
  { nodeSelector, affinity, topologySpreadConstraints }: PodSpec, at: string,
  textOf: (key: string) => string | undefined, warn: Warn
): void {
  const label = (key: string, path: string): void => {
    const text = textOf(key)
    if (text !== undefined) warn(`${path}: ${key} is ${text}`)
  }
  for (const key of Object.keys(nodeSelector ?? {})) {
    const text = textOf(key)
    if (text !== undefined) warn(`${at}.nodeSelector[${key}]: ${text}`)
  }
  const {
    requiredDuringSchedulingIgnoredDuringExecution: required, preferredDuringSchedulingIgnoredDuringExecution: preferred
  } = affinity?.nodeAffinity ?? {}
  const terms = [
    ...(required?.nodeSelectorTerms ?? []).map((term, index) =>
      [term, `requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[${index}]`] as const),
    ...(preferred ?? []).map(({ preference }, index) =>
      [preference, `preferredDuringSchedulingIgnoredDuringExecution[${index}].preference`] as const)
  ]
  for (const [{ matchExpressions = [] }, path] of terms) {
    for (const [index, { key }] of matchExpressions.entries()) {
      label(key, `${at}.affinity.nodeAffinity.${path}.matchExpressions[${index}].key`)
    }
  }
  for (const [index, { topologyKey }] of (topologySpreadConstraints ?? []).entries()) {
    label(topologyKey, `${at}.topologySpreadConstraints[${index}].topologyKey`)
  }
}

function warnOfAnnotations (annotations: ObjectMeta['annotations'], spec: PodSpec, at: string, warn: Warn): void {
  if (annotations === undefined) return
  const annotated = (key: string, text: string): void => {
    if (Object.hasOwn(annotations, key)) warn(`${at}[${key}]: ${text}`)
  }
  for (const [key, text] of ANNOTATIONS) annotated(key, text)
  if (spec.securityContext?.seccompProfile === undefined) annotated(SECCOMP_OF_POD, SECCOMP)
  for (const [{ name, securityContext }] of containersOf(spec, '')) {
    if (securityContext?.seccompProfile === undefined) annotated(SECCOMP_OF_CONTAINER + name, SECCOMP)
  }
}

function repeated<K extends string> (
  items: ReadonlyArray<{ readonly [key in K]?: string | undefined }> | undefined, key: K, at: string, warn: Warn
): void {
  const seen = new Set<string>()
  for (const [index, item] of (items ?? []).entries()) {
    const value = item[key] ?? ''
    if (seen.has(value)) warn(`${at}[${index}].${key}: duplicate ${key} ${JSON.stringify(value)}`)
    seen.add(value)
  }
}

function fractional (amounts: Amounts, at: string, warn: Warn): void {
  for (const name of BYTES) {
    const amount = amounts?.[name]
    if (amount !== undefined && !isWhole(amount)) {
      warn(`${at}[${name}]: fractional byte value ${JSON.stringify(amount)} is invalid, must be an integer`)
    }
  }
}

interface Generated { readonly metadata: ObjectMeta }

/**
 * Warnings for workloads: on create and when the generation changes.
 * @param at path of the template
 * @param isNamed whether the names of its pods begin with its own
 */
export const templateWarnings = <T extends Generated>(
  at: string, templateOf: (object: T) => PodTemplateSpec | undefined, isNamed = false
) => ofChanges<T>((object, old, gates) => {
  const template = templateOf(object)
  if (template === undefined) return []
  const ofName = isNamed && old === undefined ? nameWarnings(object.metadata, gates) : []
  return [...ofName, ...podWarnings(template, at, gates)]
})
