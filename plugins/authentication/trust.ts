/** The current, parsed authorities of client certificates. */
import type { X509Certificate } from 'node:crypto'
import type { Authorities } from '../../auth/authorities.js'
import { parseAuthorities } from './issuers.js'

/** Immutable; replaced when an authority changes. */
export interface Trust {
  /** `--client-ca-file`; undefined if the host's TLS decides. */
  readonly clients: readonly X509Certificate[] | undefined
  /** `--requestheader-client-ca-file` */
  readonly proxies: readonly X509Certificate[] | undefined
}

/** @throws Error for an invalid certificate */
export function currentTrust (clients: Authorities | undefined, proxies: Authorities | undefined): () => Trust {
  const parse = (): Trust => ({
    clients: clients === undefined ? undefined : parseAuthorities(clients.pem),
    proxies: proxies === undefined ? undefined : parseAuthorities(proxies.pem)
  })
  let trust = parse()
  const again = (): void => { trust = parse() }
  clients?.onChange(again)
  proxies?.onChange(again)
  return () => trust
}
