/**
 * Default roles of cluster components and of all users, as upstream. A rule is `VERBS|GROUPS|RESOURCES|NAMES` (`core`
 * is the core group), or `VERBS > PATHS`.
 */
import type { DefaultRole } from './types.js'

export const COMPONENT_ROLES: readonly DefaultRole[] = [
  {
    name: 'system:auth-delegator', rules: [
      'create|authentication.orch.io|tokenreviews', 'create|authorization.orch.io|subjectaccessreviews'
    ]
  },
  {
    name: 'system:basic-user', rules: [
      'create|authorization.orch.io|selfsubjectaccessreviews,selfsubjectrulesreviews',
      'create|authentication.orch.io|selfsubjectreviews @APISelfSubjectReview'
    ]
  },
  {
    name: 'system:certificates.orch.io:certificatesigningrequests:nodeclient', rules: [
      'create|certificates.orch.io|certificatesigningrequests/nodeclient'
    ]
  },
  {
    name: 'system:certificates.orch.io:certificatesigningrequests:selfnodeclient', rules: [
      'create|certificates.orch.io|certificatesigningrequests/selfnodeclient'
    ]
  },
  {
    name: 'system:certificates.orch.io:legacy-unknown-approver', rules: [
      'approve|certificates.orch.io|signers|orch.io/legacy-unknown'
    ]
  },
  {
    name: 'system:certificates.orch.io:node-agent-serving-approver', rules: [
      'approve|certificates.orch.io|signers|orch.io/node-agent-serving'
    ]
  },
  {
    name: 'system:certificates.orch.io:orch-apiserver-client-approver', rules: [
      'approve|certificates.orch.io|signers|orch.io/orch-apiserver-client'
    ]
  },
  {
    name: 'system:certificates.orch.io:orch-apiserver-client-node-agent-approver',
    rules: [
      'approve|certificates.orch.io|signers|orch.io/orch-apiserver-client-node-agent'
    ]
  },
  {
    name: 'system:discovery', rules: [
      'get > /api,/api/*,/apis,/apis/*,/healthz,/livez,/openapi,/openapi/*,/readyz,/version,/version/'
    ]
  },
  {
    name: 'system:heapster', rules: [
      'get,list,watch|core|events,namespaces,nodes,pods', 'get,list,watch|extensions|deployments'
    ]
  },
  { name: 'system:monitoring', rules: ['get > /healthz,/healthz/*,/livez,/livez/*,/metrics,/readyz,/readyz/*'] },
  {
    name: 'system:node',
    rules: [
      'create|authentication.orch.io|tokenreviews',
      'create|authorization.orch.io|localsubjectaccessreviews,subjectaccessreviews',
      'get,list,watch|core|services',
      'create,get,list,watch|core|nodes',
      'patch,update|core|nodes/status',
      'patch,update|core|nodes',
      'create,patch,update|core|events',
      'get,list,watch|core|pods',
      'create,delete|core|pods',
      'patch,update|core|pods/status',
      'create|core|pods/eviction',
      'get,list,watch|core|configmaps,secrets',
      'get|core|persistentvolumeclaims,persistentvolumes',
      'get|core|endpoints',
      'create,get,list,watch|certificates.orch.io|certificatesigningrequests',
      'create,delete,get,patch,update|coordination.orch.io|leases',
      'get|storage.orch.io|volumeattachments',
      'create|core|serviceaccounts/token',
      'get,patch,update|core|persistentvolumeclaims/status',
      'get,list,watch|storage.orch.io|csidrivers',
      'create,delete,get,patch,update|storage.orch.io|csinodes',
      'get,list,watch|node.orch.io|runtimeclasses'
    ]
  },
  {
    name: 'system:node-agent-api-admin', rules: [
      'get,list,watch|core|nodes', 'proxy|core|nodes',
      '*|core|nodes/log,nodes/metrics,nodes/proxy,nodes/spec,nodes/stats'
    ]
  },
  {
    name: 'system:node-bootstrapper', rules: [
      'create,get,list,watch|certificates.orch.io|certificatesigningrequests'
    ]
  },
  {
    name: 'system:node-problem-detector', rules: [
      'get|core|nodes', 'patch|core|nodes/status', 'create,patch,update|core,events.orch.io|events'
    ]
  },
  {
    name: 'system:node-proxier',
    rules: [
      'list,watch|core|endpoints,services',
      'get,list,watch|core|nodes',
      'create,patch,update|core,events.orch.io|events',
      'list,watch|discovery.orch.io|endpointslices'
    ]
  },
  { name: 'system:orch-aggregator', rules: ['get,list,watch|core|endpoints,services'] },
  {
    name: 'system:orch-controller-manager',
    rules: [
      'create,patch,update|core,events.orch.io|events',
      'create|coordination.orch.io|leases',
      'get,update|coordination.orch.io|leases|orch-controller-manager',
      'create|core|endpoints',
      'get,update|core|endpoints|orch-controller-manager',
      'create|core|secrets,serviceaccounts',
      'delete|core|secrets',
      'get|core|configmaps,namespaces,secrets,serviceaccounts',
      'update|core|secrets,serviceaccounts',
      'create|authentication.orch.io|tokenreviews',
      'create|authorization.orch.io|subjectaccessreviews',
      'list,watch|*|*',
      'create|core|serviceaccounts/token'
    ]
  },
  { name: 'system:orch-dns', rules: ['list,watch|core|endpoints,services'] },
  {
    name: 'system:orch-scheduler',
    rules: [
      'create,patch,update|core,events.orch.io|events',
      'create|coordination.orch.io|leases',
      'get,update|coordination.orch.io|leases|orch-scheduler',
      'create|core|endpoints',
      'get,update|core|endpoints|orch-scheduler',
      'get,list,watch|core|nodes',
      'delete,get,list,watch|core|pods',
      'create|core|bindings,pods/binding',
      'patch,update|core|pods/status',
      'get,list,watch|core|replicationcontrollers,services',
      'get,list,watch|apps,extensions|replicasets',
      'get,list,watch|apps|statefulsets',
      'get,list,watch|policy|poddisruptionbudgets',
      'get,list,watch|core|persistentvolumeclaims,persistentvolumes',
      'create|authentication.orch.io|tokenreviews',
      'create|authorization.orch.io|subjectaccessreviews',
      'get,list,watch|storage.orch.io|csinodes',
      'get,list,watch|core|namespaces',
      'get,list,watch|storage.orch.io|csidrivers',
      'get,list,watch|storage.orch.io|csistoragecapacities'
    ]
  },
  {
    name: 'system:persistent-volume-provisioner',
    rules: [
      'create,delete,get,list,watch|core|persistentvolumes',
      'get,list,update,watch|core|persistentvolumeclaims',
      'get,list,watch|storage.orch.io|storageclasses',
      'watch|core|events',
      'create,patch,update|core,events.orch.io|events'
    ]
  },
  { name: 'system:public-info-viewer', rules: ['get > /healthz,/livez,/readyz,/version,/version/'] },
  {
    name: 'system:service-account-issuer-discovery', rules: [
      'get > /.well-known/openid-configuration,/openid/v1/jwks'
    ]
  },
  {
    name: 'system:volume-scheduler',
    rules: [
      'get,list,patch,update,watch|core|persistentvolumes',
      'get,list,watch|storage.orch.io|storageclasses',
      'get,list,patch,update,watch|core|persistentvolumeclaims'
    ]
  }
]
