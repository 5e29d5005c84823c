/** Error messages for failed webhook calls. */
import { isClientError, reasonOf, type ClientError } from '../../clients/errors.js'
import { isStatusError } from '../../schemas/status.js'
import { CallFailure, type HookFailure } from '../../admission/webhooks/target.js'

const MAX_BODY_LENGTH = 2048

/** @param url the called URL, with its query */
export function hookFailure (error: unknown, url: string): HookFailure {
  const [words, code] = describeCallError(error, url)
  // Keep the response body out of the client's message, and the error that contains it out of the log.
  if (isClientError(error, 'BadStatus')) {
    return new CallFailure(words, code, { clientWhy: `Post ${JSON.stringify(url)}: it answered ${error.status ?? ''}` })
  }
  return new CallFailure(words, code, { cause: error })
}

/** @returns message and HTTP status, the latter for metrics */
export function describeCallError (error: unknown, url: string): [words: string, code: number] {
  if (!isClientError(error)) return [error instanceof Error ? error.message : String(error), 500]
  return error.code === 'BadStatus' ? ofStatus(error) : [`Post ${JSON.stringify(url)}: ${ofConnection(error)}`, 400]
}

function ofConnection (error: ClientError): string {
  const { code, cause } = error
  if (isStatusError(cause)) return cause.message // service lookup failed
  if (code === 'Timeout') return 'the deadline has passed'
  return code === 'Unreachable' ? reasonOf(cause) : error.message
}

const STATUS_TEXTS: Readonly<Record<number, string>> = {
  400: 'the server rejected our request for an unknown reason',
  401: 'the server has asked for the client to provide credentials',
  404: 'the server could not find the requested resource',
  405: 'the server does not allow this method on the requested resource',
  406: 'the server was unable to respond with a content type that the client supports',
  409: 'the server reported a conflict',
  422: 'the server rejected our request due to an error in our request',
  429: 'the server has received too many requests and has asked us to try again later',
  503: 'the server is currently unable to handle the request',
  504: 'the server was unable to return a response in the time allotted, but may still be processing the request'
}

/** Uses the message of a Status in the response, if any. */
function ofStatus ({ status = 0, body }: ClientError): [words: string, code: number] {
  const text = body?.subarray(0, MAX_BODY_LENGTH).toString().trim() ?? ''
  const statusMessage = messageIn(text)
  if (statusMessage !== undefined) return [statusMessage, status]
  if (status === 403 || status === 415) return [text === '' ? 'unknown' : text, status]
  const known = STATUS_TEXTS[status]
  if (known !== undefined) return [known, status]
  if (status >= 500) {
    return [
      `an error on the server (${JSON.stringify(text === '' ? 'unknown' : text)}) has prevented the request from ` +
        'succeeding',
      status
    ]
  }
  return [`the server responded with the status code ${status} but did not return more information`, status]
}

function messageIn (text: string): string | undefined {
  if (!text.startsWith('{')) return undefined
  try {
    const { kind, message } = JSON.parse(text) as { kind?: unknown, message?: unknown }
    return kind === 'Status' && typeof message === 'string' && message !== '' ? message : undefined
  } catch {
    return undefined
  }
}
