/**
 * Default roles for users, as upstream. A rule is `VERBS|GROUPS|RESOURCES|NAMES` (`core` is the core group), or `VERBS
 * > PATHS`.
 */
import type { DefaultRole } from './types.js'

export const USER_ROLES: readonly DefaultRole[] = [
  { name: 'admin', aggregates: 'rbac.authorization.orch.io/aggregate-to-admin', rules: [] },
  { name: 'cluster-admin', rules: ['*|*|*', '* > *'] },
  {
    name: 'edit', labels: {
      'rbac.authorization.orch.io/aggregate-to-admin': 'true'
    }, aggregates: 'rbac.authorization.orch.io/aggregate-to-edit', rules: []
  },
  {
    name: 'system:aggregate-to-admin',
    labels: { 'rbac.authorization.orch.io/aggregate-to-admin': 'true' },
    rules: [
      'create|authorization.orch.io|localsubjectaccessreviews',
      'create,delete,deletecollection,get,list,patch,update,watch|rbac.authorization.orch.io|rolebindings,roles'
    ]
  },
  {
    name: 'system:aggregate-to-edit',
    labels: { 'rbac.authorization.orch.io/aggregate-to-edit': 'true' },
    rules: [
      'get,list,watch|core|pods/attach,pods/exec,pods/portforward,pods/proxy,secrets,services/proxy',
      'impersonate|core|serviceaccounts',
      'create,delete,deletecollection,patch,update|core|pods,pods/attach,pods/exec,pods/portforward,pods/proxy',
      'create|core|pods/eviction',
      'create,delete,deletecollection,patch,update|core|configmaps,events,persistentvolumeclaims,' +
        'replicationcontrollers,replicationcontrollers/scale,secrets,serviceaccounts,services,services/proxy',
      'create|core|serviceaccounts/token',
      'create,delete,deletecollection,patch,update|apps|daemonsets,deployments,deployments/rollback,' +
        'deployments/scale,replicasets,replicasets/scale,statefulsets,statefulsets/scale',
      'create,delete,deletecollection,patch,update|autoscaling|horizontalpodautoscalers',
      'create,delete,deletecollection,patch,update|batch|cronjobs,jobs',
      'create,delete,deletecollection,patch,update|extensions|daemonsets,deployments,deployments/rollback,' +
        'deployments/scale,ingresses,networkpolicies,replicasets,replicasets/scale,replicationcontrollers/scale',
      'create,delete,deletecollection,patch,update|policy|poddisruptionbudgets',
      'create,delete,deletecollection,patch,update|networking.orch.io|ingresses,networkpolicies',
      'create,delete,deletecollection,get,list,patch,update,watch|coordination.orch.io|leases'
    ]
  },
  {
    name: 'system:aggregate-to-view',
    labels: { 'rbac.authorization.orch.io/aggregate-to-view': 'true' },
    rules: [
      'get,list,watch|core|configmaps,endpoints,persistentvolumeclaims,persistentvolumeclaims/status,pods,' +
        'replicationcontrollers,replicationcontrollers/scale,serviceaccounts,services,services/status',
      'get,list,watch|core|bindings,events,limitranges,namespaces/status,pods/log,pods/status,' +
        'replicationcontrollers/status,resourcequotas,resourcequotas/status',
      'get,list,watch|core|namespaces',
      'get,list,watch|discovery.orch.io|endpointslices',
      'get,list,watch|apps|controllerrevisions,daemonsets,daemonsets/status,deployments,deployments/scale,' +
        'deployments/status,replicasets,replicasets/scale,replicasets/status,statefulsets,statefulsets/scale,' +
        'statefulsets/status',
      'get,list,watch|autoscaling|horizontalpodautoscalers,horizontalpodautoscalers/status',
      'get,list,watch|batch|cronjobs,cronjobs/status,jobs,jobs/status',
      'get,list,watch|extensions|daemonsets,daemonsets/status,deployments,deployments/scale,deployments/status,' +
        'ingresses,ingresses/status,networkpolicies,replicasets,replicasets/scale,replicasets/status,' +
        'replicationcontrollers/scale',
      'get,list,watch|policy|poddisruptionbudgets,poddisruptionbudgets/status',
      'get,list,watch|networking.orch.io|ingresses,ingresses/status,networkpolicies'
    ]
  },
  {
    name: 'view', labels: {
      'rbac.authorization.orch.io/aggregate-to-edit': 'true'
    }, aggregates: 'rbac.authorization.orch.io/aggregate-to-view', rules: []
  }
]
