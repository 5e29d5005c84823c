/** The target of a webhook call, and the interface of its caller. */
import type { WebhookClientConfig } from '../../schemas/api/admissionregistration/webhooks.js'
import { MismatchError, type DecodeError } from '../../schemas/language/decode-error.js'

export interface HookService { readonly namespace: string, readonly name: string, readonly port: number }

export interface HookTarget {
  /** Identifies the clientConfig: hooks with equal targets share connections. */
  readonly key: string
  /** For errors: includes the port of a service, even the default one that a URL omits. */
  readonly displayUrl: string
  /**
   * With path and without query; for services `https://NAME.NAMESPACE.svc:PORT/PATH`, which also determines the
   * certificate's name.
   */
  readonly url: URL
  /** The service to resolve, if any. */
  readonly service: HookService | undefined
  /** PEM; undefined for the platform's trusted CAs. */
  readonly authority: string | undefined
}

export interface HookCall {
  readonly target: HookTarget
  /** JSON. */
  readonly body: string
  /** In milliseconds, for the whole call. */
  readonly timeout: number
  /** Cancels the call when the client disconnects. */
  readonly signal: AbortSignal
  /** A W3C Trace Context header, if any. */
  readonly traceparent?: string | undefined
}

/** Calls webhooks. */
export interface HookCaller {
  /**
   * POSTs the review. Follows no redirects; time and response size are limited.
   * @returns the body of a 2xx response
   * @throws HookFailure
   */
  readonly call: (call: HookCall) => Promise<Uint8Array>
  /** The targets in use: connections to others close after their pending calls. */
  readonly retain: (targets: Iterable<HookTarget>) => void
}

/** Why a call failed, in upstream's words: `Post URL: EOF`. */
export class HookFailure extends Error {
  /** HTTP status, for metrics. */
  readonly code: number
  /** For the log: without text of the webhook, which may repeat the object. */
  readonly clientMessage: string

  /** @param options with a cause that may be logged */
  constructor (
    message: string, code: number,
    { clientMessage = message, ...options }: ErrorOptions & { readonly clientMessage?: string } = {}
  ) {
    super(message, options)
    this.name = 'HookFailure'
    this.code = code
    this.clientMessage = clientMessage
  }
}

/** The webhook could not be called, or did not answer with a review. */
export class CallFailure extends HookFailure {
  /** The failure alone: `Post URL: EOF`. */
  readonly why: string

  /** @param options `clientWhy`: what clients may read of `why`. Default all of it. */
  constructor (why: string, code: number, options: ErrorOptions & { readonly clientWhy?: string } = {}) {
    const { clientWhy = why, ...rest } = options
    const said = (text: string): string => `failed to call webhook: ${text}`
    super(said(why), code, { clientMessage: said(clientWhy), ...rest })
    this.why = why
  }
}

/** The message without the value that could not be decoded. */
export const withoutValue = (error: DecodeError): string =>
  error instanceof MismatchError ? error.withoutValue : error.message

const DEFAULT_PORT = 443

export function targetOf ({ url = '', service, caBundle = '' }: WebhookClientConfig): HookTarget {
  const authority = caBundle === '' ? undefined : Buffer.from(caBundle, 'base64').toString()
  if (service === undefined) {
    const whole = new URL(url)
    whole.pathname = normalizePath(whole.pathname)
    const origin = /^[^:]*:\/\/[^/]*/.exec(url)?.[0] ?? ''
    return {
      key: JSON.stringify([url, caBundle]), displayUrl: `${origin}${whole.pathname}`, url: whole, service: undefined,
      authority
    }
  }
  const { namespace, name, path = '', port = DEFAULT_PORT } = service
  const origin = `https://${name}.${namespace}.svc:${port}`
  const whole = new URL(origin)
  whole.pathname = normalizePath(path)
  return {
    key: JSON.stringify([namespace, name, port, path, caBundle]), displayUrl: `${origin}${whole.pathname}`, url: whole,
    service: { namespace, name, port }, authority
  }
}

/** Removes redundant slashes, as upstream. */
const normalizePath = (path: string): string => `/${path.split('/').filter(part => part !== '').join('/')}`
