/** Limits of the interface that more than one room keeps. */

/** Bytes of a request body; nobody is told to go on with a larger one. */
export const MOST_BODY_BYTES = 3 * 1024 * 1024
