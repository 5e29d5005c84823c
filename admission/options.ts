/** What a host says of admission, and what plugins are made of. */
import type { Attributes, Ruling } from '../auth/authorizer.js'
import type { ResourceRegistry } from '../registry/resource-registry.js'
import type { PluginConfiguration } from './configuration.js'
import type { AdmissionPlugin } from '../registry/admission.js'
import type { PodSecurityObserver } from './pod-security/observer.js'
import type { HookTools } from './webhooks/tools.js'

/** Seconds a pod stays on a node that is not ready or cannot be reached, where it does not say so itself. */
export interface TolerationSeconds { readonly notReady: number, readonly unreachable: number }

export interface AdmissionOptions {
  /** Names of built-in plugins that are on beside the default ones. */
  readonly enabled?: readonly string[]
  /** Of those that are off. */
  readonly disabled?: readonly string[]
  /** Run after the built-in ones, in order. */
  readonly plugins?: readonly AdmissionPlugin[]
  /** By name of the plugin. */
  readonly configuration?: Readonly<Record<string, PluginConfiguration>>
  /** Of DefaultTolerationSeconds. Default 300 each. */
  readonly tolerationSeconds?: TolerationSeconds
}

/** Calls other servers for plugins: this room knows no connections. What it makes is closed with the server. */
export interface AdmissionCallers {
  /** @param kubeconfig path of the file that says as whom webhooks are called. @throws Error when it cannot be used */
  readonly webhooks: (kubeconfig: string | undefined) => Promise<HookTools>
  /**
   * @param kubeconfig path of the file that says where reviews are sent
   * @param backoff milliseconds before the second attempt
   * @returns sends a review and resolves to what is answered; rejects with an Error in the words of the convention
   * @throws Error when the file cannot be used
   */
  readonly reviewer: (kubeconfig: string, backoff: number) => Promise<(review: object, signal: AbortSignal, traceparent?: string) => Promise<unknown>>
}

/** What plugins are made of. */
export interface AdmissionTools {
  readonly resources: () => ResourceRegistry
  /** The authorizers of the server. Neither throws nor rejects. */
  readonly authorize: (attributes: Attributes) => Ruling | Promise<Ruling>
  readonly tolerationSeconds: TolerationSeconds
  readonly callers: AdmissionCallers
  /** Told of what PodSecurity judges. */
  readonly observePodSecurity?: PodSecurityObserver
  /** For the log of the server, once. */
  readonly note: (text: string) => void
}
