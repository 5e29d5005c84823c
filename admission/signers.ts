/** Who speaks for the signer of a certificate request. */
import type { UserInfo } from '../schemas/meta/user-info.js'
import type { AdmissionTools } from './options.js'

/** Whether the user may do so for the signer, or for all of its domain; the server itself may. */
export async function maySpeakFor (authorize: AdmissionTools['authorize'], user: UserInfo | undefined, verb: 'approve' | 'sign', signer: string): Promise<boolean> {
  if (user === undefined) return true
  const [domain = ''] = signer.split('/')
  for (const name of [signer, `${domain}/*`]) {
    const { decision } = await authorize({ user, info: { path: '', isResourceRequest: true, verb, group: 'certificates.orch.io', version: '*', resource: 'signers', subresource: '', namespace: '', name } })
    if (decision === 'Allow') return true
  }
  return false
}
