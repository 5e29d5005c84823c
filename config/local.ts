/** `--local`: other defaults for flags that are not given, for a server with one user on one machine. */
import { join } from 'node:path'
import type { Parsed } from './command-line.js'
import type { FlagName, Values } from './flags/index.js'

/** The folder for certificates of the server and of the administrator. */
const certificates = ({ 'data-dir': folder }: Values): string => join(folder, 'certs')

export interface LocalFiles { readonly certificate: string, readonly key: string, readonly kubeconfig: string }

export const localFiles = (values: Values): LocalFiles => ({
  certificate: join(certificates(values), 'admin.crt'),
  key: join(certificates(values), 'admin.key'),
  kubeconfig: join(values['data-dir'], 'kubeconfig')
})

/** True if the administrator's self-signed certificate is the client CA. */
export const hasLocalAdministrator = ({ values, given }: Parsed): boolean => values.local &&
  !given.has('client-ca-file')

export function withLocalDefaults ({ values, given }: Parsed): Parsed {
  const defaults: Partial<Values> = {
    'bind-address': '127.0.0.1',
    'anonymous-auth': false,
    'authorization-mode': ['RBAC'],
    'cert-dir': certificates(values),
    'client-ca-file': localFiles(values).certificate
  }
  const applied = Object.entries(defaults).filter(([name]) => !given.has(name as FlagName)) // only flags are listed
  return { values: { ...values, ...Object.fromEntries(applied) }, given }
}
