/** Of authenticators and authorizers that hold something: connections, watched files, keys that are fetched. */
export interface Lifecycle {
  /**
   * Called once before the server serves anybody, one part after the other in the order of the chain. One that rejects ends
   * the boot, in an error that begins with its kind and name. Waiting for another server does not belong here: it may come later.
   */
  start?: () => Promise<void>
  /** Called once when the server closes, the last of the chain first; not after a start that failed. What it throws is logged. */
  close?: () => void | Promise<void>
}
