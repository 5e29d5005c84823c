/**
 * PodSecurity: pods must meet the level of the pod security standards that their namespace enforces, by default
 * privileged. Violations of the levels to warn and audit, by pods and pod templates, are reported to the client and the
 * audit log. A namespace with invalid labels is refused; one with a stricter level gets warnings about existing pods
 * that violate it. (Enabled by default.)
 */
import type { Namespace } from '../../schemas/api/core/namespaces.js'
import type { Pod } from '../../schemas/api/core/pods.js'
import { sameValue } from '../../schemas/language/values.js'
import { partsOf, RELEASE_NAME, type Release } from '../../schemas/meta/release.js'
import { describe, invalid, listed } from '../../schemas/status.js'
import { typed, type AdmissionRequest, type AdmissionPlugin } from '../../registry/admission.js'
import { podPath, podIn, type PodLike } from '../pod-templates.js'
import type { PodSecuritySettings } from '../pod-security/configuration.js'
import { warningsOf } from '../pod-security/existing-pods.js'
import { UNOBSERVED, type PodSecurityObserver } from '../pod-security/observer.js'
import { showPolicy, LEVELS, policyOf, type LevelVersion } from '../pod-security/policy.js'
import { inDetail, violations } from '../pod-security/standards.js'
import { isSignificant } from '../pod-security/updates.js'
import { refusal } from '../refusal.js'

const ANNOTATION = 'pod-security.orch.io/'
/** Subresources of pods that can add containers. */
const SUBRESOURCES: ReadonlySet<string> = new Set(['', 'ephemeralcontainers'])

export function podSecurity (
  settings: PodSecuritySettings, observer: PodSecurityObserver = UNOBSERVED, release: Release = RELEASE_NAME
): AdmissionPlugin {
  const newest = Number(partsOf(release).minor)
  const { defaults, usernames, namespaces, runtimeClasses } = settings
  const isExemptRuntime = ({ spec }: PodLike): boolean => spec.runtimeClassName !== undefined &&
    runtimeClasses.has(spec.runtimeClassName)

  const exempt = ({ annotate }: AdmissionRequest, why: string): void => { annotate(`${ANNOTATION}exempt`, why) }

  const ofNamespace = async (request: AdmissionRequest): Promise<void> => {
    const { object, oldObject, name, reader, warn } = typed<Namespace>(request)
    const { policy: { enforce }, findings } = policyOf(object?.metadata.labels, defaults)
    const old = policyOf(oldObject?.metadata.labels, defaults)
    const isNew = oldObject === undefined
    if (findings.length > 0 && (isNew || !sameValue(findings, old.findings))) {
      throw invalid({ group: '', kind: request.kind }, name || (object?.metadata.name ?? ''), findings)
    }
    if (isNew || sameValue(enforce, old.policy.enforce) || enforce.level === 'privileged') return
    const isLaxer = LEVELS.indexOf(enforce.level) <= LEVELS.indexOf(old.policy.enforce.level)
    if (enforce.minor === old.policy.enforce.minor && isLaxer) return
    if (namespaces.has(name)) return exempt(request, 'namespace')
    const pods = await reader.list('', 'pods', name) as Pod[] // the resource's type
    for (const text of await warningsOf(name, pods, enforce, { isExempt: isExemptRuntime, newest })) warn(text)
  }

  const ofPods = async (request: AdmissionRequest): Promise<void> => {
    const { namespace, reader, annotate, warn, resource, group } = request
    const exemptFor = (why: string): void => {
      observer.exempted(request)
      exempt(request, why)
    }
    if (namespaces.has(namespace)) return exemptFor('namespace')
    if (usernames.has(request.user?.username ?? '')) return exemptFor('user')
    const isPod = resource === 'pods'
    const { policy, findings } = policyOf((await reader.get('', 'namespaces', '', namespace).catch((error: unknown) => {
      observer.failed(request, true)
      throw error
    }))?.metadata.labels, defaults, release !== RELEASE_NAME)
    const isOpen = ({ level }: LevelVersion): boolean => level === 'privileged'
    if (findings.length === 0 && isOpen(policy.warn) && isOpen(policy.audit) && (!isPod || isOpen(policy.enforce))) {
      if (isPod) {
        annotate(`${ANNOTATION}enforce-policy`, showPolicy(policy.enforce))
        observer.evaluated(request, 'enforce', policy.enforce, true)
      }
      return
    }
    const pod = podIn(group, resource, request.object)
    if (pod === undefined || (isPod && !isSignificant(typed<Pod>(request)))) return
    if (isExemptRuntime(pod)) return exemptFor('runtimeClass')
    if (findings.length > 0) {
      observer.failed(request, false)
      annotate(
        `${ANNOTATION}error`,
        'Failed to parse policy: ' +
          `${listed([...new Set(findings.map(finding => `${finding.field}: ${describe(finding)}`))])}`
      )
    }

    const audited = violations(policy.audit, pod, newest)
    if (audited.length > 0) {
      observer.evaluated(request, 'audit', policy.audit, false)
      annotate(
        `${ANNOTATION}audit-violations`,
        `would violate PodSecurity ${JSON.stringify(showPolicy(policy.audit))}: ${inDetail(audited)}`
      )
    }
    if (isPod) {
      annotate(`${ANNOTATION}enforce-policy`, showPolicy(policy.enforce))
      const broken = violations(policy.enforce, pod, newest)
      observer.evaluated(request, 'enforce', policy.enforce, broken.length === 0)
      if (broken.length > 0) {
        throw refusal(
          request, `violates PodSecurity ${JSON.stringify(showPolicy(policy.enforce))}: ${inDetail(broken)}`
        )
      }
    }
    const warned = violations(policy.warn, pod, newest)
    if (warned.length === 0) return
    observer.evaluated(request, 'warn', policy.warn, false)
    warn(`would violate PodSecurity ${JSON.stringify(showPolicy(policy.warn))}: ${inDetail(warned)}`)
  }

  return {
    name: 'PodSecurity',
    handles: ({ operation, group, resource, subresource }) => {
      if (operation !== 'CREATE' && operation !== 'UPDATE') return false
      if (group === '' && resource === 'namespaces') return subresource === ''
      return podPath(group, resource) !== undefined &&
        (resource === 'pods' ? SUBRESOURCES.has(subresource) : subresource === '')
    },
    validate: async request => { await (request.resource === 'namespaces' ? ofNamespace(request) : ofPods(request)) }
  }
}
