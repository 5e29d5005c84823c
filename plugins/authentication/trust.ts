/** The authorities of client certificates, parsed, as they are now. */
import type { X509Certificate } from 'node:crypto'
import type { Authorities } from '../../auth/authorities.js'
import { parseAuthorities } from './issuers.js'

/** Of one moment; another object when one of them has changed. */
export interface Trust {
  /** `--client-ca-file`; undefined where a host leaves it to its TLS. */
  readonly clients: readonly X509Certificate[] | undefined
  /** `--requestheader-client-ca-file` */
  readonly proxies: readonly X509Certificate[] | undefined
}

/** @throws Error for a certificate that is broken */
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
