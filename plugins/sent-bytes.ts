import type { Socket } from 'node:net'

/** Bytes that have left a socket, without those that wait in it. A proxy of one, as HTTP/2 has it, may not know them. */
export function sentBytes (socket: Partial<Pick<Socket, 'bytesWritten' | 'writableLength'>>): number {
  return (socket.bytesWritten ?? 0) - (socket.writableLength ?? 0)
}
