/** Messages that only whole stores need: leases of values, and many changes in one transaction. */
import protobuf from 'protobufjs/minimal.js'
import type { Revision } from '../backend.js'
import { bitsOf, comparison, encodeFramed, type Comparison } from './messages.js'
import { TxnRequest } from './messages.proto.js'

/** Several changes, made only if the guard's key is as expected. Ranges are deleted before values are put. */
export interface BatchMessage {
  readonly guard: Comparison
  readonly puts?: ReadonlyArray<{
    readonly key: Uint8Array, readonly value: Uint8Array, readonly lease: string | undefined
  }>
  readonly deletes?: ReadonlyArray<{ readonly key: Uint8Array, readonly rangeEnd: Uint8Array }>
}

export const encodeBatch = ({ guard, puts = [], deletes = [] }: BatchMessage, offset: Revision): Buffer =>
  encodeFramed(TxnRequest, {
    compare: [comparison(guard, offset)],
    success: [
      ...deletes.map(range => ({ requestDeleteRange: range })),
      ...puts.map(({ key, value, lease }) =>
        ({ requestPut: { key, value, lease: lease === undefined ? undefined : bitsOf(lease) } }))
    ],
    failure: []
  })

const KVS_TAG = 2 << 3 | 2
const LEASE_TAG = 6 << 3

/** The lease of each value of a range, '0' for none. Leases have 63 bits, more than the generated code reads. */
export function leasesIn (response: Uint8Array): string[] {
  const leases: string[] = []
  const reader = protobuf.Reader.create(response)
  while (reader.pos < reader.len) {
    const tag = reader.uint32()
    if (tag === KVS_TAG) leases.push(leaseOf(reader.bytes()))
    else reader.skipType(tag & 7)
  }
  return leases
}

function leaseOf (kv: Uint8Array): string {
  const reader = protobuf.Reader.create(kv)
  let lease = 0n
  while (reader.pos < reader.len) {
    const tag = reader.uint32()
    const start = reader.pos
    reader.skipType(tag & 7)
    if (tag === LEASE_TAG) {
      lease = kv.subarray(start, reader.pos).reduceRight((high, byte) => high << 7n | BigInt(byte & 0x7f), 0n)
    }
  }
  return String(lease)
}
