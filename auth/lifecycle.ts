/** Start and close of authenticators and authorizers with resources: connections, watched files, fetched keys. */
export interface Lifecycle {
  /**
   * Called once before the server accepts requests, in the order of the chain. A rejection ends the start. Must not
   * wait for another server.
   */
  start?: () => Promise<void>
  /** Called once at shutdown, in reverse order; not after a failed start. Errors are logged. */
  close?: () => void | Promise<void>
}
