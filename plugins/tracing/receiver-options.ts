/** Where spans are sent; apart from what sends them, so that the types of the package need none of the library's. */
export interface ReceiverOptions {
  /** `host:port`, or `unix:///path` of a socket. Default `localhost:4317`. */
  readonly endpoint?: string | undefined
  /** Of a million requests whose callers do not say whether they are traced. Default 0. */
  readonly samplingRatePerMillion?: number | undefined
  /** Milliseconds it may take for a batch, and for all that is left when the server ends. Default 5,000. */
  readonly timeout?: number
}
