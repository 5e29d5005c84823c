/** Bind addresses, public addresses and their notation. */
import { networkInterfaces } from 'node:os'
import type { Values } from './flags/index.js'

/** `host:port`, with brackets around IPv6 addresses. */
export const hostPort = (host: string, port: number): string => `${host.includes(':') ? `[${host}]` : host}:${port}`

const EVERYWHERE: ReadonlySet<string> = new Set(['', '0.0.0.0', '::'])

/** The address at which others reach the server: the advertised one, else the bound one, else the host's first. */
export function publicAddress (values: Pick<Values, 'advertise-address' | 'bind-address'>): string {
  if (values['advertise-address'] !== '') return values['advertise-address']
  const bound = values['bind-address']
  return EVERYWHERE.has(bound) ? hostAddress() ?? '127.0.0.1' : bound
}

/** The first address that is not this machine's alone. */
export function hostAddress (): string | undefined {
  const addresses = Object.values(networkInterfaces()).flatMap(list => list ?? []).filter(({ internal }) => !internal)
  return (addresses.find(({ family }) => family === 'IPv4') ?? addresses[0])?.address
}

export const isLoopback = (address: string): boolean => address === '::1' || address.startsWith('127.')

/** The address to bind to. Blank, 0.0.0.0 and :: mean all addresses, of IPv4 and IPv6 if the host has both. */
export function listenHost (bindAddress: string): string {
  if (!EVERYWHERE.has(bindAddress)) return bindAddress
  return Object.values(networkInterfaces()).some(list => list?.some(({ family }) => family === 'IPv6') === true)
    ? '::'
    : '0.0.0.0'
}
