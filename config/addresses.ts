/** Addresses: what to listen on, what others reach the server at, and how they are written. */
import { networkInterfaces } from 'node:os'
import type { Values } from './flags/index.js'

/** `host:port`, with the brackets that an IPv6 address needs. */
export const hostPort = (host: string, port: number): string => `${host.includes(':') ? `[${host}]` : host}:${port}`

const EVERYWHERE: ReadonlySet<string> = new Set(['', '0.0.0.0', '::'])

/** The address that others reach the server at: as advertised, else as bound, else the first of the host. */
export function publicAddress (values: Pick<Values, 'advertise-address' | 'bind-address'>): string {
  if (values['advertise-address'] !== '') return values['advertise-address']
  const bound = values['bind-address']
  if (!EVERYWHERE.has(bound)) return bound
  const addresses = Object.values(networkInterfaces()).flatMap(list => list ?? []).filter(({ internal }) => !internal)
  return (addresses.find(({ family }) => family === 'IPv4') ?? addresses[0])?.address ?? '127.0.0.1'
}

/** What to bind to: blank, 0.0.0.0 and :: are every address of the host, of both versions of IP where it speaks both. */
export function listenHost (bindAddress: string): string {
  if (!EVERYWHERE.has(bindAddress)) return bindAddress
  return Object.values(networkInterfaces()).some(list => list?.some(({ family }) => family === 'IPv6') === true) ? '::' : '0.0.0.0'
}
