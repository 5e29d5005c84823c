/**
 * etcd's own protocol file, from etcd3, read by an independent implementation. Tests check messages with it, and
 * simulated etcds use it.
 */
import { createRequire } from 'node:module'
import path from 'node:path'
import protobuf from 'protobufjs'

const directory = path.join(path.dirname(createRequire(import.meta.url).resolve('etcd3')), '..', 'proto')
const root = new protobuf.Root()
root.resolvePath = (_, target) => path.join(directory, path.basename(target))
root.loadSync('rpc.proto', { keepCase: true })
const type = (name: string) => root.lookupType(`etcdserverpb.${name}`)

/** The framed message as etcd's own file decodes it. */
export function judged (name: string, framed: Buffer): Record<string, unknown> {
  if (framed[0] !== 0 || framed.readUInt32BE(1) !== framed.length - 5) {
    throw new Error('the frame of the message is wrong')
  }
  const message = type(name).decode(framed.subarray(5))
  return type(name).toObject(message, { longs: String, enums: String, bytes: String })
}

export const encoded = (name: string, message: Record<string, unknown>): Buffer =>
  Buffer.from(type(name).encode(type(name).fromObject(message)).finish())
