/** The dependencies of both webhook plugins, and the events they report. */
import type { ResourceRegistry } from '../../registry/resource-registry.js'
import type { AdmissionRequest } from '../../registry/admission.js'
import type { HookCaller } from './target.js'

export type HookStep = 'admit' | 'validating'
/** Why a request was refused: the hook refused, its call failed, or this server failed to handle its response. */
export type RejectionCause = 'no_error' | 'calling_webhook_error' | 'apiserver_internal_error'

/** A call, as metrics name it. */
export interface NamedCall { readonly hook: string, readonly step: HookStep, readonly operation: string }

export interface HookMetrics {
  /** Called after each call. @param code resulting HTTP status, 0 for an error of this server */
  readonly called: (call: NamedCall, seconds: number, code: number, rejected: boolean) => void
  readonly rejected: (call: NamedCall, cause: RejectionCause, code: number) => void
  /** A request proceeded although the call failed. */
  readonly failedOpen: (call: NamedCall) => void
}

export interface HookTools {
  readonly resources: ResourceRegistry
  readonly caller: HookCaller
  readonly metrics: HookMetrics
  /** Logs a failed call. */
  readonly failed: (hook: string, message: string) => void
}

const GROUP = 'admissionregistration.orch.io'
const OWN = /^(?:validating|mutating)(?:webhookconfigurations|admissionpolic(?:ies|ybindings))$/

/** The update of a pod that its Binding makes; admission has seen the Binding. */
export const followsFromBinding = (
  { group, resource, subresource, operation }:
    Pick<AdmissionRequest, 'group' | 'resource' | 'subresource' | 'operation'>
): boolean => operation === 'UPDATE' && subresource === 'binding' && group === '' && resource === 'pods'

/**
 * Webhooks are not called for webhook configurations and policies, as they could prevent their own removal; nor for the
 * update that follows from a Binding, for which they were called already.
 */
export const isExempt = ({ group, resource, subresource, operation }: AdmissionRequest): boolean =>
  (group === GROUP && OWN.test(resource)) ||
    followsFromBinding({ group, resource, subresource, operation })
