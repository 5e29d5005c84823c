/** Default roles in system namespaces, as upstream. */
import type { DefaultRole } from './types.js'

export const NAMESPACED_ROLES: ReadonlyArray<DefaultRole & { readonly namespace: string }> = [
  {
    namespace: 'orch-system', name: 'extension-apiserver-authentication-reader', rules: [
      'get,list,watch|core|configmaps|extension-apiserver-authentication'
    ]
  },
  { namespace: 'orch-system', name: 'system:controller:bootstrap-signer', rules: ['get,list,watch|core|secrets'] },
  {
    namespace: 'orch-system', name: 'system:controller:cloud-provider', rules: [
      'create,get,list,watch|core|configmaps'
    ]
  },
  {
    namespace: 'orch-system', name: 'system:controller:token-cleaner', rules: [
      'delete,get,list,watch|core|secrets', 'create,patch,update|core,events.orch.io|events'
    ]
  },
  {
    namespace: 'orch-system', name: 'system::leader-locking-orch-controller-manager', rules: [
      'watch|core|configmaps', 'get,update|core|configmaps|orch-controller-manager'
    ]
  },
  {
    namespace: 'orch-system', name: 'system::leader-locking-orch-scheduler', rules: [
      'watch|core|configmaps', 'get,update|core|configmaps|orch-scheduler'
    ]
  },
  {
    namespace: 'orch-public',
    name: 'system:controller:bootstrap-signer',
    rules: [
      'get,list,watch|core|configmaps',
      'update|core|configmaps|cluster-info',
      'create,patch,update|core,events.orch.io|events'
    ]
  }
]
