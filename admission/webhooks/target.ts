/** Where a webhook is, and what is needed of whoever can call one: this room knows no connections. */
import type { WebhookClientConfig } from '../../schemas/api/admissionregistration/webhooks.js'
import type { DecodeError } from '../../schemas/language/decode-error.js'

export interface HookService { readonly namespace: string, readonly name: string, readonly port: number }

export interface HookTarget {
  /** Of its clientConfig, in words: hooks of the same target share their connections. */
  readonly key: string
  /** For errors: with the port of a service, which a URL leaves out where it is the usual one. */
  readonly displayUrl: string
  /** With its path, and no query; of a service `https://NAME.NAMESPACE.svc:PORT/PATH`, which is also what its certificate is for. */
  readonly url: URL
  /** Where to look up what to connect to. */
  readonly service: HookService | undefined
  /** PEM text; undefined trusts what the platform trusts. */
  readonly authority: string | undefined
}

export interface HookCall {
  readonly target: HookTarget
  /** JSON. */
  readonly body: string
  /** Milliseconds for all of it. */
  readonly timeout: number
  /** Ends the call when nobody waits for it any more. */
  readonly signal: AbortSignal
  /** A header of W3C Trace Context, where there is one. */
  readonly traceparent?: string | undefined
}

/** Calls webhooks. */
export interface HookCaller {
  /**
   * POSTs the review. Follows no redirect; the time and the size of an answer are bounded.
   * @returns the body of an answer of 2xx
   * @throws HookFailure
   */
  readonly call: (call: HookCall) => Promise<Uint8Array>
  /** Those that may still be called: connections to all others end with the calls under way. */
  readonly retain: (targets: Iterable<HookTarget>) => void
}

/** Why a webhook gave no answer, in the words of the convention: `Post "https://…": EOF`. */
export class HookFailure extends Error {
  /** HTTP status, for metrics. */
  readonly code: number
  /** For the log: without the webhook's own words, which may repeat what it was asked about. */
  readonly clientMessage: string

  /** @param options with a cause that may be in the log */
  constructor (message: string, code: number, { clientMessage = message, ...options }: ErrorOptions & { readonly clientMessage?: string } = {}) {
    super(message, options)
    this.name = 'HookFailure'
    this.code = code
    this.clientMessage = clientMessage
  }
}

/** What could not be decoded and why, without the value. */
export const withoutValue = ({ message }: DecodeError): string => message.split(', got ', 1)[0] ?? ''

const DEFAULT_PORT = 443

export function targetOf ({ url = '', service, caBundle = '' }: WebhookClientConfig): HookTarget {
  const authority = caBundle === '' ? undefined : Buffer.from(caBundle, 'base64').toString()
  if (service === undefined) {
    const whole = new URL(url)
    whole.pathname = clean(whole.pathname)
    const origin = /^[^:]*:\/\/[^/]*/.exec(url)?.[0] ?? ''
    return { key: JSON.stringify([url, caBundle]), displayUrl: `${origin}${whole.pathname}`, url: whole, service: undefined, authority }
  }
  const { namespace, name, path = '', port = DEFAULT_PORT } = service
  const origin = `https://${name}.${namespace}.svc:${port}`
  const whole = new URL(origin)
  whole.pathname = clean(path)
  return { key: JSON.stringify([namespace, name, port, path, caBundle]), displayUrl: `${origin}${whole.pathname}`, url: whole, service: { namespace, name, port }, authority }
}

/** As the convention calls it: without slashes that separate nothing. */
const clean = (path: string): string => `/${path.split('/').filter(part => part !== '').join('/')}`
