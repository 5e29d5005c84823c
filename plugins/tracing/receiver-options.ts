/** Options of the span receiver, in a separate file so that the package's types do not depend on OpenTelemetry. */
export const DEFAULT_ENDPOINT = 'localhost:4317'
export const DEFAULT_TIMEOUT = 5000

export interface ReceiverOptions {
  /** `host:port`, or `unix:///path` of a socket. Default `localhost:4317`. */
  readonly endpoint?: string | undefined
  /** Requests per million to sample if the caller made no decision. Default 0. */
  readonly samplingRatePerMillion?: number | undefined
  /** Milliseconds to export a batch, and all remaining spans at shutdown. Default 5,000. */
  readonly timeout?: number
}
