import { allows } from '../auth/refusal.js'
import { resourceRequest } from '../auth/request-info.js'
import type { UserInfo } from '../schemas/meta/user-info.js'
import type { AdmissionTools } from './options.js'

/** Whether the user has the verb on the signer or on all signers of its domain. Always true for the server itself. */
export async function isSignerAllowed (
  authorize: AdmissionTools['authorize'], user: UserInfo | undefined, verb: 'approve' | 'sign', signer: string
): Promise<boolean> {
  if (user === undefined) return true
  const [domain = ''] = signer.split('/')
  for (const name of [signer, `${domain}/*`]) {
    const info = resourceRequest({ verb, group: 'certificates.orch.io', version: '*', resource: 'signers', name })
    if (allows(await authorize({ user, info }))) return true
  }
  return false
}
