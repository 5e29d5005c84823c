/** Start and close of authenticators and authorizers with resources: connections, watched files, fetched keys. */
export interface Lifecycle {
  /**
   * Called once before the server accepts requests, in the order of the chain. A rejection ends the start, with an error that begins with the kind and name.
   * Must not wait for another server, which may start later.
   */
  start?: () => Promise<void>
  /** Called once at shutdown, in reverse order; not after a failed start. Errors are logged. */
  close?: () => void | Promise<void>
}
