/** `--local`: a server for one machine and one person, by other defaults for flags that are not given. */
import { join } from 'node:path'
import type { Parsed } from './command-line.js'
import type { FlagName, Values } from './flags/index.js'

/** Where the server keeps its certificates, and the administrator's. */
const certificates = ({ 'data-dir': folder }: Values): string => join(folder, 'certs')

export interface LocalFiles { readonly certificate: string, readonly key: string, readonly kubeconfig: string }

export const localFiles = (values: Values): LocalFiles => ({
  certificate: join(certificates(values), 'admin.crt'),
  key: join(certificates(values), 'admin.key'),
  kubeconfig: join(values['data-dir'], 'kubeconfig')
})

/** True if the administrator's certificate is the one that clients are trusted by. */
export const hasLocalAdministrator = ({ values, given }: Parsed): boolean => values.local && !given.has('client-ca-file')

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
