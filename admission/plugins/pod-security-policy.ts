/**
 * PodSecurityPolicy: a pod must match a policy that its creator or its service account may `use`: the first by name
 * that matches without changes, else the first that matches with its defaults. An annotation records the policy.
 * Without policies, no pod is admitted. (Off by default; deprecated: PodSecurity takes its place.)
 */
import { pods, type Pod } from '../../schemas/api/core/pods.js'
import type { PodSecurityPolicy } from '../../schemas/api/policy/podsecuritypolicies.js'
import { allows } from '../../auth/refusal.js'
import { resourceRequest } from '../../auth/request-info.js'
import { serviceAccountGroups, serviceAccountUsername } from '../../auth/service-account-names.js'
import type { UserInfo } from '../../schemas/meta/user-info.js'
import { clone, sameValue } from '../../schemas/language/values.js'
import { describe, type FieldError } from '../../schemas/status.js'
import { pluginFor, type TypedRequest, type AdmissionPlugin, type AdmissionRequest } from '../../registry/admission.js'
import { onlyForCollection } from '../garbage-fields.js'
import type { AdmissionTools } from '../options.js'
import { refusal } from '../refusal.js'
import { setSecurity } from '../security-policies/mutate.js'
import { policyFindings } from '../security-policies/validate.js'

const ANNOTATION = 'orch.io/psp'
const AUDIT = 'podsecuritypolicy.policy.orch.io/'
/** API groups in which roles grant `use`: older roles name the one that policies were in at first. */
const GROUPS = ['policy', 'extensions']

interface Fit { readonly pod: Pod, readonly policy: string }

/** Whether the user of a request, or the service account of its pod, may use a policy. */
async function mayUse (
  authorize: AdmissionTools['authorize'], { user, namespace, object }: TypedRequest<Pod>, name: string
): Promise<boolean> {
  if (user === undefined) return true
  const account = object?.spec.serviceAccountName ?? ''
  const users: UserInfo[] = [user, ...account === ''
    ? []
    : [{
        username: serviceAccountUsername(namespace, account), uid: '', groups: serviceAccountGroups(namespace),
        extra: {}
      }]]
  for (const holder of users) {
    for (const group of GROUPS) {
      const resource = 'podsecuritypolicies'
      const info = resourceRequest({ verb: 'use', group, version: '*', resource, namespace, name })
      if (allows(await authorize({ user: holder, info }))) return true
    }
  }
  return false
}

export function podSecurityPolicy ({ authorize }: Pick<AdmissionTools, 'authorize'>): AdmissionPlugin {
  /** @returns the violations of all usable policies if none matches. Throws a StatusError if there are no policies */
  const fit = async (
    request: TypedRequest<Pod>, original: Pod, first: string | undefined
  ): Promise<Fit | readonly FieldError[]> => {
    // the resource's type
    const policies = (await request.reader.list('policy', 'podsecuritypolicies', '') as PodSecurityPolicy[])
      .map(policy => ({ policy, name: policy.metadata.name ?? '' }))
      .sort((one, other) => one.name === first ? -1 : other.name === first ? 1 : one.name < other.name ? -1 : 1)
    if (policies.length === 0) {
      throw refusal(request, 'PodSecurityPolicy: no providers available to validate pod request')
    }
    const violations: FieldError[] = []
    let changed: Fit | undefined
    for (const { policy, name } of policies) {
      const pod = clone(original)
      setSecurity(pod, policy)
      const findings = policyFindings(pod, policy)
      if (findings.length === 0 && sameValue(policyFields(pod), policyFields(original))) {
        if (await mayUse(authorize, request, name)) return { pod: original, policy: name }
      } else if (findings.length === 0) {
        const isWanted = changed === undefined && first === undefined
        if (isWanted && await mayUse(authorize, request, name)) changed = { pod, policy: name }
      } else if (await mayUse(authorize, request, name)) violations.push(...findings)
    }
    return changed ?? violations
  }

  return pluginFor<Pod>(pods, {
    name: 'PodSecurityPolicy',
    operations: ['CREATE', 'UPDATE'],
    subresources: ['', 'ephemeralcontainers'],
    mutate: async request => {
      if (request.object === undefined || request.operation !== 'CREATE') return
      const outcome = await fit(request, request.object, undefined)
      if (!('policy' in outcome)) throw refusal(request, `PodSecurityPolicy: unable to admit pod: ${show(outcome)}`)
      Object.assign(request.object, outcome.pod)
      const { metadata } = request.object
      metadata.annotations = { ...metadata.annotations, [ANNOTATION]: outcome.policy }
      request.annotate(`${AUDIT}admit-policy`, outcome.policy)
    },
    validate: async request => {
      const { object, oldObject: old } = request
      // Terminating pods start nothing new.
      if (object === undefined || old?.metadata.deletionTimestamp !== undefined ||
        onlyForCollection(request as unknown as AdmissionRequest)) return
      const outcome = await fit(request, object, object.metadata.annotations?.[ANNOTATION] ?? '')
      if (!('policy' in outcome)) throw refusal(request, `PodSecurityPolicy: unable to validate pod: ${show(outcome)}`)
      request.annotate(`${AUDIT}validate-policy`, outcome.policy)
    }
  })
}

/** The fields that a policy may change; an empty security context equals a missing one. */
const policyFields = ({ metadata: { annotations = {} }, spec: { securityContext = {}, ...spec } }: Pod): unknown =>
  ({ annotations, securityContext, spec })

const show = (findings: readonly FieldError[]): string =>
  `[${findings.map(finding => `${finding.field}: ${describe(finding)}`).join(' ')}]`
