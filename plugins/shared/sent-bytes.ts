import type { Socket } from 'node:net'

/** Bytes that have left the socket, without buffered ones. HTTP/2 socket proxies may lack both counters. */
export function sentBytes (socket: Partial<Pick<Socket, 'bytesWritten' | 'writableLength'>>): number {
  return (socket.bytesWritten ?? 0) - (socket.writableLength ?? 0)
}
