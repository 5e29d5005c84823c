/**
 * The rules, in release 1.36, of default roles that changed since 1.24. A rule is written as in `user-roles.ts`;
 * ` @GATES` at its end names the feature gates that it needs.
 */
/** Rules by role, in place of those of 1.24. */
export const LATER_RULES: Readonly<Record<string, readonly string[]>> = {
  'system:aggregate-to-edit': [
    'get,list,watch|core|pods/attach,pods/exec,pods/portforward,pods/proxy,secrets,services/proxy',
    'impersonate|core|serviceaccounts',
    'create,delete,deletecollection,patch,update|core|pods,pods/attach,pods/exec,pods/portforward,pods/proxy',
    'create|core|pods/eviction',
    'create,delete,deletecollection,patch,update|core|configmaps,persistentvolumeclaims,replicationcontrollers,' +
      'replicationcontrollers/scale,secrets,serviceaccounts,services,services/proxy',
    'create|core|serviceaccounts/token',
    'create,delete,deletecollection,patch,update|core,events.orch.io|events',
    'create,delete,deletecollection,patch,update|apps|daemonsets,deployments,deployments/rollback,' +
      'deployments/scale,replicasets,replicasets/scale,statefulsets,statefulsets/scale',
    'create,delete,deletecollection,patch,update|autoscaling|horizontalpodautoscalers',
    'create,delete,deletecollection,patch,update|batch|cronjobs,jobs',
    'create,delete,deletecollection,patch,update|extensions|daemonsets,deployments,deployments/rollback,' +
      'deployments/scale,ingresses,networkpolicies,replicasets,replicasets/scale,replicationcontrollers/scale',
    'create,delete,deletecollection,patch,update|policy|poddisruptionbudgets',
    'create,delete,deletecollection,patch,update|networking.orch.io|ingresses,networkpolicies',
    'create,delete,deletecollection,get,list,patch,update,watch|coordination.orch.io|leases',
    'create,delete,deletecollection,patch,update|resource.orch.io|resourceclaims,' +
      'resourceclaimtemplates @DynamicResourceAllocation',
    'create,delete,deletecollection,patch,update|scheduling.orch.io|podgroups,workloads @GenericWorkload'
  ],
  'system:aggregate-to-view': [
    'get,list,watch|core|configmaps,endpoints,persistentvolumeclaims,persistentvolumeclaims/status,pods,' +
      'replicationcontrollers,replicationcontrollers/scale,serviceaccounts,services,services/status',
    'get,list,watch|core|bindings,limitranges,namespaces/status,pods/log,pods/status,' +
      'replicationcontrollers/status,resourcequotas,resourcequotas/status',
    'get,list,watch|core|namespaces',
    'get,list,watch|core,events.orch.io|events',
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
    'get,list,watch|networking.orch.io|ingresses,ingresses/status,networkpolicies',
    'get,list,watch|resource.orch.io|resourceclaims,resourceclaims/status,' +
      'resourceclaimtemplates @DynamicResourceAllocation',
    'get,list,watch|scheduling.orch.io|podgroups,podgroups/status,workloads @GenericWorkload'
  ],
  'system:basic-user': [
    'create|authorization.orch.io|selfsubjectaccessreviews,selfsubjectrulesreviews',
    'create|authentication.orch.io|selfsubjectreviews'
  ],
  'system:controller:attachdetach-controller': [
    'list,watch|core|persistentvolumeclaims,persistentvolumes',
    'get,list,watch|core|nodes',
    'patch,update|core|nodes/status',
    'list,watch|core|pods',
    'create,patch,update|core,events.orch.io|events',
    'create,delete,get,list,watch|storage.orch.io|volumeattachments',
    'get,list,watch|storage.orch.io|csidrivers',
    'get,list,watch|storage.orch.io|csinodes'
  ],
  'system:controller:cronjob-controller': [
    'get,list,update,watch|batch|cronjobs',
    'create,delete,get,list,patch,update,watch|batch|jobs',
    'update|batch|cronjobs/status',
    'update|batch|cronjobs/finalizers',
    'delete,list,watch|core|pods',
    'create,patch,update|core,events.orch.io|events'
  ],
  'system:controller:disruption-controller': [
    'get,list,watch|apps,extensions|deployments',
    'get,list,watch|apps,extensions|replicasets',
    'get,list,watch|core|replicationcontrollers',
    'get,list,watch|policy|poddisruptionbudgets',
    'get,list,watch|apps|statefulsets',
    'update|policy|poddisruptionbudgets/status',
    'patch,update|core|pods/status',
    'get|*|*/scale',
    'create,patch,update|core,events.orch.io|events'
  ],
  'system:controller:endpoint-controller': [
    'get,list,watch|core|pods,services',
    'create,delete,get,list,update,watch|core|endpoints',
    'create|core|endpoints/restricted',
    'create,patch,update|core,events.orch.io|events'
  ],
  'system:controller:endpointslice-controller': [
    'get,list,watch|core|nodes,pods,services',
    'update|core|services/finalizers',
    'create,delete,get,list,update,watch|discovery.orch.io|endpointslices',
    'create,patch,update|core,events.orch.io|events'
  ],
  'system:controller:endpointslicemirroring-controller': [
    'get,list,watch|core|endpoints,services',
    'update|core|services/finalizers',
    'update|core|endpoints/finalizers',
    'create,delete,get,list,update,watch|discovery.orch.io|endpointslices',
    'create,patch,update|core,events.orch.io|events'
  ],
  'system:controller:expand-controller': [
    'get,list,patch,update,watch|core|persistentvolumes',
    'patch,update|core|persistentvolumeclaims/status',
    'get,list,watch|core|persistentvolumeclaims',
    'create,patch,update|core,events.orch.io|events'
  ],
  'system:controller:horizontal-pod-autoscaler': [
    'get,list,watch|autoscaling|horizontalpodautoscalers',
    'update|autoscaling|horizontalpodautoscalers/status',
    'get,update|*|*/scale',
    'list,watch|core|pods',
    'list,watch|metrics.orch.io|pods',
    'get,list,watch|custom.metrics.orch.io|*',
    'get,list,watch|external.metrics.orch.io|*',
    'create,patch,update|core,events.orch.io|events'
  ],
  'system:controller:job-controller': [
    'get,list,patch,update,watch|batch|jobs',
    'update|batch|jobs/status',
    'update|batch|jobs/finalizers',
    'create,delete,list,patch,watch|core|pods',
    'create,patch,update|core,events.orch.io|events',
    'create,get,list,watch|scheduling.orch.io|podgroups,workloads @WorkloadWithJob'
  ],
  'system:controller:namespace-controller': [
    'delete,get,list,watch|core|namespaces',
    'update|core|namespaces/finalize,namespaces/status',
    'delete,deletecollection,get,list,watch|*|*'
  ],
  'system:controller:node-controller': [
    'delete,get,list,patch,update,watch|core|nodes',
    'patch,update|core|nodes/status',
    'patch,update|core|pods/status',
    'delete,get,list,watch|core|pods',
    'create,patch,update|core,events.orch.io|events'
  ],
  'system:controller:persistent-volume-binder': [
    'create,delete,get,list,update,watch|core|persistentvolumes',
    'update|core|persistentvolumes/status',
    'get,list,update,watch|core|persistentvolumeclaims',
    'update|core|persistentvolumeclaims/status',
    'create,delete,get,list,watch|core|pods',
    'get,list,watch|storage.orch.io|storageclasses',
    'list,watch|core|nodes',
    'create,patch,update|core,events.orch.io|events',
    'watch|core|events'
  ],
  'system:controller:pod-garbage-collector': [
    'delete,list,watch|core|pods',
    'get,list,watch|core|nodes',
    'patch|core|pods/status'
  ],
  'system:controller:pvc-protection-controller': [
    'get,list,update,watch|core|persistentvolumeclaims',
    'update|core|persistentvolumeclaims/status',
    'get,list,watch|core|pods',
    'create,patch,update|core,events.orch.io|events'
  ],
  'system:controller:statefulset-controller': [
    'list,watch|core|pods',
    'get,list,watch|apps|statefulsets',
    'update|apps|statefulsets/status',
    'update|apps|statefulsets/finalizers',
    'create,delete,get,patch,update|core|pods',
    'create,delete,get,list,patch,update,watch|apps|controllerrevisions',
    'create,get,list,watch|core|persistentvolumeclaims',
    'delete,update|core|persistentvolumeclaims',
    'update|core|pods/finalizers',
    'create,patch,update|core,events.orch.io|events'
  ],
  'system:monitoring': [
    'get > /flagz,/healthz,/healthz/*,/livez,/livez/*,/metrics,/metrics/slis,/readyz,/readyz/*,/statusz',
    'get|core|nodes/metrics'
  ],
  'system:node': [
    'create|authentication.orch.io|tokenreviews',
    'create|authorization.orch.io|localsubjectaccessreviews,subjectaccessreviews',
    'get,list,watch|core|services',
    'create,get,list,watch|core|nodes',
    'patch,update|core|nodes/status',
    'patch,update|core|nodes',
    'create,patch,update|core,events.orch.io|events',
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
    'get,list,watch|node.orch.io|runtimeclasses',
    'get|resource.orch.io|resourceclaims @DynamicResourceAllocation',
    'deletecollection|resource.orch.io|resourceslices @DynamicResourceAllocation',
    'get,list,watch|certificates.orch.io|clustertrustbundles @ClusterTrustBundle',
    'get|core|serviceaccounts @KubeletServiceAccountTokenForCredentialProviders',
    'create,get,list,watch|certificates.orch.io|podcertificaterequests @PodCertificateRequest'
  ],
  'system:node-agent-api-admin': [
    'get,list,watch|core|nodes',
    'proxy|core|nodes',
    '*|core|nodes/log,nodes/metrics,nodes/proxy,nodes/stats',
    '*|core|nodes/configz,nodes/healthz,nodes/pods @KubeletFineGrainedAuthz'
  ],
  'system:node-proxier': [
    'list,watch|core|endpoints,services',
    'get,list,watch|core|nodes',
    'create,patch,update|core,events.orch.io|events',
    'list,watch|networking.orch.io|servicecidrs @MultiCIDRServiceAllocator',
    'list,watch|discovery.orch.io|endpointslices'
  ],
  'system:orch-controller-manager': [
    'create,patch,update|core,events.orch.io|events',
    'create|coordination.orch.io|leases',
    'get,update|coordination.orch.io|leases|orch-controller-manager',
    'create|core|secrets,serviceaccounts',
    'delete|core|secrets',
    'get|core|configmaps,namespaces,secrets,serviceaccounts',
    'update|core|secrets,serviceaccounts',
    'create|authentication.orch.io|tokenreviews',
    'create|authorization.orch.io|subjectaccessreviews',
    'list,watch|*|*',
    'create|core|serviceaccounts/token'
  ],
  'system:orch-scheduler': [
    'create,patch,update|core,events.orch.io|events',
    'create|coordination.orch.io|leases',
    'get,list,update,watch|coordination.orch.io|leases|orch-scheduler',
    'create,delete,deletecollection,get,list,patch,update,watch|coordination.orch.io|leasecandidates',
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
    'get,list,watch|storage.orch.io|volumeattachments',
    'get,list,watch|core|namespaces',
    'get,list,watch|storage.orch.io|csidrivers',
    'get,list,watch|storage.orch.io|csistoragecapacities',
    'get,list,watch|resource.orch.io|deviceclasses @DynamicResourceAllocation',
    'get,list,patch,update,watch|resource.orch.io|resourceclaims @DynamicResourceAllocation',
    'get,list,patch,update,watch|resource.orch.io|resourceclaims/status @DynamicResourceAllocation',
    'update|core|pods/finalizers @DynamicResourceAllocation',
    'get,list,watch|resource.orch.io|resourceslices @DynamicResourceAllocation',
    'create,delete|resource.orch.io|resourceclaims @DynamicResourceAllocation,DRAExtendedResource',
    'get,list,watch|resource.orch.io|devicetaintrules @DynamicResourceAllocation,DRADeviceTaintRules',
    'patch,update|resource.orch.io|resourceclaims/binding @DynamicResourceAllocation,' +
      'DRAResourceClaimGranularStatusAuthorization',
    'get,list,watch|scheduling.orch.io|podgroups @GenericWorkload',
    'patch,update|scheduling.orch.io|podgroups/status @GenericWorkload'
  ],
  'system:service-account-issuer-discovery': [
    'get > /.well-known/openid-configuration,/.well-known/openid-configuration/,/openid/v1/jwks,/openid/v1/jwks/'
  ]
}
