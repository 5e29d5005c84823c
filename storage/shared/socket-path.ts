/** Where the process that has the disk is reached. */
import { join, relative } from 'node:path'

const NAME = 'store.sock'
/** Bytes that the address of a Unix socket may have. */
const MAX = 100

/** The shorter of the absolute path and that from the working directory. */
export function socketIn (directory: string): string {
  const [absolute, other] = [join(directory, NAME), relative(process.cwd(), join(directory, NAME))]
  return Buffer.byteLength(absolute) <= Buffer.byteLength(other) ? absolute : other
}

/** Why the store of a directory cannot be shared; undefined if it can. */
export const directoryProblem = (directory: string): string | undefined =>
  Buffer.byteLength(socketIn(directory)) <= MAX ? undefined : `is too long a path for the socket ${NAME} in it, which may have ${MAX} bytes; name another folder`
