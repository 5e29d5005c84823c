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
import { describe, invalid, listed, type FieldError } from '../../schemas/status.js'
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
  const security = new PodSecurity(settings, observer, release)
  return {
    name: 'PodSecurity',
    handles: ({ operation, group, resource, subresource }) => {
      if (operation !== 'CREATE' && operation !== 'UPDATE') return false
      if (group === '' && resource === 'namespaces') return subresource === ''
      return podPath(group, resource) !== undefined &&
        (resource === 'pods' ? SUBRESOURCES.has(subresource) : subresource === '')
    },
    validate: request => request.resource === 'namespaces' ? security.checkNamespace(request) : security.check(request)
  }
}

const isOpen = ({ level }: LevelVersion): boolean => level === 'privileged'
const policyText = (policy: LevelVersion): string => JSON.stringify(showPolicy(policy))
const annotateExempt = ({ annotate }: AdmissionRequest, why: string): void => { annotate(`${ANNOTATION}exempt`, why) }

class PodSecurity {
  readonly #settings: PodSecuritySettings
  readonly #observer: PodSecurityObserver
  readonly #release: Release
  /** The minor version that `latest` means. */
  readonly #newest: number

  constructor (settings: PodSecuritySettings, observer: PodSecurityObserver, release: Release) {
    this.#settings = settings
    this.#observer = observer
    this.#release = release
    this.#newest = Number(partsOf(release).minor)
  }

  async checkNamespace (request: AdmissionRequest): Promise<void> {
    const { object, oldObject, name, reader, warn } = typed<Namespace>(request)
    const { defaults, namespaces } = this.#settings
    const { policy: { enforce }, findings } = policyOf(object?.metadata.labels, defaults)
    const old = policyOf(oldObject?.metadata.labels, defaults)
    const isNew = oldObject === undefined
    if (findings.length > 0 && (isNew || !sameValue(findings, old.findings))) {
      throw invalid({ group: '', kind: request.kind }, name || (object?.metadata.name ?? ''), findings)
    }
    if (isNew || sameValue(enforce, old.policy.enforce) || isOpen(enforce)) return
    const isLaxer = LEVELS.indexOf(enforce.level) <= LEVELS.indexOf(old.policy.enforce.level)
    if (enforce.minor === old.policy.enforce.minor && isLaxer) return
    if (namespaces.has(name)) return annotateExempt(request, 'namespace')
    const pods = await reader.list('', 'pods', name) as Pod[] // the resource's type
    const isExempt = (pod: PodLike): boolean => this.#hasExemptRuntime(pod)
    for (const text of await warningsOf(name, pods, enforce, { isExempt, newest: this.#newest })) warn(text)
  }

  /** Of pods, and of the templates in other objects, which no level is enforced on. */
  async check (request: AdmissionRequest): Promise<void> {
    const { namespace, resource, group } = request
    if (this.#settings.namespaces.has(namespace)) return this.#exempt(request, 'namespace')
    if (this.#settings.usernames.has(request.user?.username ?? '')) return this.#exempt(request, 'user')
    const isPod = resource === 'pods'
    const { policy, findings } = await this.#policyFor(request)
    if (findings.length === 0 && isOpen(policy.warn) && isOpen(policy.audit) && (!isPod || isOpen(policy.enforce))) {
      if (isPod) this.#enforced(request, policy.enforce, true)
      return
    }
    const pod = podIn(group, resource, request.object)
    if (pod === undefined || (isPod && !isSignificant(typed<Pod>(request)))) return
    if (this.#hasExemptRuntime(pod)) return this.#exempt(request, 'runtimeClass')
    if (findings.length > 0) this.#reportLabels(request, findings)
    this.#audit(request, pod, policy.audit)
    if (isPod) this.#enforce(request, pod, policy.enforce)
    this.#warn(request, pod, policy.warn)
  }

  #hasExemptRuntime ({ spec }: PodLike): boolean {
    return spec.runtimeClassName !== undefined && this.#settings.runtimeClasses.has(spec.runtimeClassName)
  }

  #exempt (request: AdmissionRequest, why: string): void {
    this.#observer.exempted(request)
    annotateExempt(request, why)
  }

  /** What the labels of the namespace say. */
  async #policyFor (request: AdmissionRequest): Promise<ReturnType<typeof policyOf>> {
    try {
      const namespace = await request.reader.get('', 'namespaces', '', request.namespace)
      return policyOf(namespace?.metadata.labels, this.#settings.defaults, this.#release !== RELEASE_NAME)
    } catch (error) {
      this.#observer.failed(request, true)
      throw error
    }
  }

  #reportLabels (request: AdmissionRequest, findings: readonly FieldError[]): void {
    this.#observer.failed(request, false)
    const texts = new Set(findings.map(finding => `${finding.field}: ${describe(finding)}`))
    request.annotate(`${ANNOTATION}error`, `Failed to parse policy: ${listed([...texts])}`)
  }

  #audit (request: AdmissionRequest, pod: PodLike, policy: LevelVersion): void {
    const audited = violations(policy, pod, this.#newest)
    if (audited.length === 0) return
    this.#observer.evaluated(request, 'audit', policy, false)
    request.annotate(
      `${ANNOTATION}audit-violations`, `would violate PodSecurity ${policyText(policy)}: ${inDetail(audited)}`
    )
  }

  #enforce (request: AdmissionRequest, pod: PodLike, policy: LevelVersion): void {
    const broken = violations(policy, pod, this.#newest)
    this.#enforced(request, policy, broken.length === 0)
    if (broken.length === 0) return
    throw refusal(request, `violates PodSecurity ${policyText(policy)}: ${inDetail(broken)}`)
  }

  #enforced (request: AdmissionRequest, policy: LevelVersion, isMet: boolean): void {
    request.annotate(`${ANNOTATION}enforce-policy`, showPolicy(policy))
    this.#observer.evaluated(request, 'enforce', policy, isMet)
  }

  #warn (request: AdmissionRequest, pod: PodLike, policy: LevelVersion): void {
    const warned = violations(policy, pod, this.#newest)
    if (warned.length === 0) return
    this.#observer.evaluated(request, 'warn', policy, false)
    request.warn(`would violate PodSecurity ${policyText(policy)}: ${inDetail(warned)}`)
  }
}
