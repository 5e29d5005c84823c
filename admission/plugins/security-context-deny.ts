/** SecurityContextDeny: refuses pods that set users, groups or SELinux options. (Off by default.) */
import { pods, type Pod } from '../../schemas/api/core/pods.js'
import { pluginFor } from '../../registry/admission.js'
import { refusal } from '../refusal.js'

export const securityContextDeny = pluginFor<Pod>(pods, {
  name: 'SecurityContextDeny',
  operations: ['CREATE', 'UPDATE'],
  validate: request => {
    const { securityContext: context, initContainers = [], containers = [] } = request.object?.spec ?? {}
    const refuse = (what: string): never => { throw refusal(request, `${what} is forbidden`) }
    if (context?.supplementalGroups !== undefined) refuse('pod.Spec.SecurityContext.SupplementalGroups')
    if (context?.seLinuxOptions !== undefined) refuse('pod.Spec.SecurityContext.SELinuxOptions')
    if (context?.runAsUser !== undefined) refuse('pod.Spec.SecurityContext.RunAsUser')
    if (context?.fsGroup !== undefined) refuse('pod.Spec.SecurityContext.FSGroup')
    for (const { securityContext } of [...initContainers, ...containers]) {
      if (securityContext?.seLinuxOptions !== undefined) refuse('SecurityContext.SELinuxOptions')
      if (securityContext?.runAsUser !== undefined) refuse('SecurityContext.RunAsUser')
    }
  }
})
