/** What both plugins of webhooks are made of, and what they tell others. */
import type { ResourceRegistry } from '../../registry/resource-registry.js'
import type { AdmissionRequest } from '../../registry/admission.js'
import type { HookCaller } from './target.js'

export type HookStep = 'admit' | 'validating'
/** Why a request was refused: the hook said no, could not be asked, or this server could not do what it said. */
export type RejectionCause = 'no_error' | 'calling_webhook_error' | 'apiserver_internal_error'

export interface HookMetrics {
  /** Of each call. @param code HTTP status of what came of it, 0 for a failure of this server's own */
  readonly called: (hook: string, step: HookStep, operation: string, seconds: number, code: number, rejected: boolean) => void
  readonly rejected: (hook: string, step: HookStep, operation: string, cause: RejectionCause, code: number) => void
  /** A request went on although the hook could not be asked. */
  readonly failedOpen: (hook: string, step: HookStep) => void
}

export interface HookTools {
  readonly resources: () => ResourceRegistry
  readonly caller: HookCaller
  readonly metrics: HookMetrics
  /** For the log: a hook could not be asked. */
  readonly failed: (hook: string, message: string) => void
}

const GROUP = 'admissionregistration.orch.io'
const OWN: ReadonlySet<string> = new Set(['mutatingwebhookconfigurations', 'validatingwebhookconfigurations'])

/**
 * Nobody is asked about webhooks: one could keep itself from being taken away. And of a pod that is bound the Binding is asked
 * about, not the change that follows from it.
 */
export const isExempt = ({ group, resource, subresource, operation }: AdmissionRequest): boolean =>
  (group === GROUP && OWN.has(resource)) || (operation === 'UPDATE' && subresource === 'binding' && group === '' && resource === 'pods')
