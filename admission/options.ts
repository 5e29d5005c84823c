/** Admission options of the host, and the tools of plugins. */
import type { Gates } from '../schemas/gates.js'
import type { Attributes, Ruling } from '../auth/authorizer.js'
import type { ResourceRegistry } from '../registry/resource-registry.js'
import type { PluginConfiguration } from './configuration.js'
import type { AdmissionNames } from './names.js'
import type { AdmissionPlugin } from '../registry/admission.js'
import type { Clock } from '../event-loop/clock.js'
import type { PodSecurityObserver } from './pod-security/observer.js'
import type { PolicyObserver } from './policies/observer.js'
import type { HookTools } from './webhooks/tools.js'

/** Default seconds that a pod stays on a node that is not ready or unreachable. */
export interface TolerationSeconds { readonly notReady: number, readonly unreachable: number }

export interface AdmissionOptions {
  /** Built-in plugins to enable besides the default ones. */
  readonly enabled?: readonly string[]
  /** Built-in plugins to disable. */
  readonly disabled?: readonly string[]
  /** The host's plugins, which run after the built-in ones. */
  readonly plugins?: readonly AdmissionPlugin[]
  /** By plugin name. */
  readonly configuration?: Readonly<Record<string, PluginConfiguration>>
  /** For DefaultTolerationSeconds. Default 300 each. */
  readonly tolerationSeconds?: TolerationSeconds
}

/** Outgoing calls of plugins; the server closes the connections at shutdown. */
export interface AdmissionCallers {
  /** @param kubeconfig path of the file with the credentials for webhooks. @throws Error if the file is unusable */
  readonly webhooks: (kubeconfig: string | undefined) => Promise<HookTools>
  /**
   * @param kubeconfig path of the file that names the review server
   * @param backoff milliseconds before the second attempt
   * @returns a function that sends a review and resolves to the response; it rejects with an Error in upstream's words
   * @throws Error if the file is unusable
   */
  readonly reviewer: (
    kubeconfig: string, backoff: number
  ) => Promise<(review: object, signal: AbortSignal, traceparent?: string) => Promise<unknown>>
}

/** Passed to plugins when they are created. */
export interface AdmissionTools {
  readonly resources: ResourceRegistry
  /** The server's authorizers. Never throws or rejects. */
  readonly authorize: (attributes: Attributes) => Ruling | Promise<Ruling>
  readonly tolerationSeconds: TolerationSeconds
  readonly callers: AdmissionCallers
  readonly clock: Clock
  /** Observes evaluations of PodSecurity. */
  readonly observePodSecurity?: PodSecurityObserver
  /** Observes policies and match conditions. */
  readonly observePolicies?: PolicyObserver
  readonly gates: Gates
  readonly names: AdmissionNames
  /** Logs a note at start-up. */
  readonly note: (text: string) => void
}
