/**
 * AlwaysDeny: refuses all client requests; the server's own writes are admitted. (Off by default; deprecated, for
 * tests.)
 */
import type { AdmissionPlugin, AdmissionRequest } from '../../registry/admission.js'
import { refusal } from '../refusal.js'

function deny (request: AdmissionRequest): void {
  if (request.user !== undefined) throw refusal(request, 'admission control is denying all modifications')
}

export const alwaysDeny: AdmissionPlugin = {
  name: 'AlwaysDeny', handles: [{ operations: '*', groups: '*', resources: ['*/*'] }], mutate: deny, validate: deny
}
