/** Types of the module that `build/protobuf.js` generates from konnectivity.proto. */
import type { Writer } from 'protobufjs'

interface Sent {
  readonly type: number
  readonly dialRequest?: { readonly protocol: string, readonly address: string, readonly random: number }
  readonly data?: { readonly connectID: number, readonly data: Uint8Array }
  readonly closeRequest?: { readonly connectID: number }
  readonly closeDial?: { readonly random: number }
}

export interface Received {
  readonly type: number
  readonly dialResponse: { readonly error: string, readonly connectID: number, readonly random: number } | null
  readonly data: { readonly connectID: number, readonly data: Buffer } | null
  readonly closeResponse: { readonly error: string, readonly connectID: number } | null
}

export const Packet: { encode: (message: Sent) => Writer, decode: (bytes: Buffer) => Received }
export type SentPacket = Sent
