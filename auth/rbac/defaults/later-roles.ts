/** Default roles and bindings that are new since release 1.24, as 1.36 has them, and rules of roles in namespaces. */
import type { DefaultBinding, DefaultRole } from './types.js'

export const LATER_ROLES: readonly DefaultRole[] = [
  {
    name: 'system:cluster-trust-bundle-discovery',
    gates: ['ClusterTrustBundle'],
    rules: [
      'get,list,watch|certificates.orch.io|clustertrustbundles'
    ]
  },
  {
    name: 'system:controller:device-taint-eviction-controller',
    gates: ['DynamicResourceAllocation', 'DRADeviceTaints'],
    rules: [
      'delete,get,list,watch|core|pods',
      'patch,update|core|pods/status',
      'get,list,watch|resource.orch.io|resourceclaims',
      'get,list,watch|resource.orch.io|resourceslices',
      'get,list,watch|resource.orch.io|deviceclasses',
      'create,patch,update|core,events.orch.io|events',
      'patch,update|resource.orch.io|devicetaintrules/status @DRADeviceTaintRules',
      'get,list,watch|resource.orch.io|devicetaintrules @DRADeviceTaintRules'
    ]
  },
  {
    name: 'system:controller:legacy-service-account-token-cleaner',
    gates: ['1.36'],
    rules: [
      'get|core|configmaps|orch-apiserver-legacy-service-account-token-tracking',
      'delete,patch|core|secrets'
    ]
  },
  {
    name: 'system:controller:orch-apiserver-serving-clustertrustbundle-publisher',
    gates: ['ClusterTrustBundle'],
    rules: [
      'attest|certificates.orch.io|signers|orch.io/orch-apiserver-serving',
      'create,delete,list,update,watch|certificates.orch.io|clustertrustbundles',
      'create,patch,update|core,events.orch.io|events'
    ]
  },
  {
    name: 'system:controller:podcertificaterequestcleaner',
    gates: ['PodCertificateRequest'],
    rules: [
      'delete,get,list,watch|certificates.orch.io|podcertificaterequests'
    ]
  },
  {
    name: 'system:controller:podgroup-protection-controller',
    gates: ['GenericWorkload'],
    rules: [
      'get,list,update,watch|scheduling.orch.io|podgroups',
      'get,list,watch|core|pods'
    ]
  },
  {
    name: 'system:controller:resource-claim-controller',
    gates: ['DynamicResourceAllocation'],
    rules: [
      'get,list,watch|core|pods',
      'update|core|pods/finalizers',
      'create,delete,get,list,watch|resource.orch.io|resourceclaims',
      'patch,update|resource.orch.io|resourceclaims,resourceclaims/status',
      'patch,update|core|pods/status',
      'create,patch,update|core,events.orch.io|events',
      'get,list,watch|scheduling.orch.io|podgroups @DRAWorkloadResourceClaims',
      'patch,update|scheduling.orch.io|podgroups/status @DRAWorkloadResourceClaims',
      'patch,update|resource.orch.io|resourceclaims/binding @DRAResourceClaimGranularStatusAuthorization'
    ]
  },
  {
    name: 'system:controller:resourcepoolstatusrequest-controller',
    gates: ['DynamicResourceAllocation', 'DRAResourcePoolStatus'],
    rules: [
      'delete,get,list,watch|resource.orch.io|resourcepoolstatusrequests',
      'patch,update|resource.orch.io|resourcepoolstatusrequests/status',
      'get,list,watch|resource.orch.io|resourceslices',
      'get,list,watch|resource.orch.io|resourceclaims',
      'create,patch,update|core,events.orch.io|events'
    ]
  },
  {
    name: 'system:controller:selinux-warning-controller',
    gates: ['SELinuxChangePolicy'],
    rules: [
      'create,patch,update|core,events.orch.io|events',
      'get,list,watch|core|persistentvolumes',
      'get,list,watch|core|persistentvolumeclaims',
      'get,list,watch|core|pods',
      'get,list,watch|storage.orch.io|csidrivers'
    ]
  },
  {
    name: 'system:controller:service-cidrs-controller',
    gates: ['MultiCIDRServiceAllocator'],
    rules: [
      'get,list,patch,update,watch|networking.orch.io|servicecidrs',
      'patch,update|networking.orch.io|servicecidrs/finalizers',
      'patch,update|networking.orch.io|servicecidrs/status',
      'get,list,watch|networking.orch.io|ipaddresses',
      'create,patch,update|core,events.orch.io|events'
    ]
  },
  {
    name: 'system:controller:storage-version-migrator-controller',
    gates: ['StorageVersionMigrator'],
    rules: [
      'create,list,patch|*|*',
      'get|apiextensions.orch.io|customresourcedefinitions',
      'patch|apiextensions.orch.io|customresourcedefinitions/status',
      'update|storagemigration.orch.io|storageversionmigrations/status'
    ]
  },
  {
    name: 'system:controller:validatingadmissionpolicy-status-controller',
    gates: ['1.36'],
    rules: [
      'get,list,watch|admissionregistration.orch.io|validatingadmissionpolicies',
      'get,patch,update|admissionregistration.orch.io|validatingadmissionpolicies/status',
      'create,patch,update|core,events.orch.io|events'
    ]
  },
  {
    name: 'system:controller:volumeattributesclass-protection-controller',
    gates: ['VolumeAttributesClass'],
    rules: [
      'get,list,watch|core|persistentvolumeclaims',
      'get,list,watch|core|persistentvolumes',
      'get,list,update,watch|storage.orch.io|volumeattributesclasses',
      'create,patch,update|core,events.orch.io|events'
    ]
  }
]

/** The same of roles in namespaces. */
export const LATER_NAMESPACED_RULES: Readonly<Record<string, readonly string[]>> = {
  'system::leader-locking-orch-controller-manager': [
    'create,get,list,update,watch|coordination.orch.io|leases',
    'create,get,list,update,watch|coordination.orch.io|leasecandidates'
  ],
  'system::leader-locking-orch-scheduler': [
    'create,get,list,update,watch|coordination.orch.io|leases',
    'create,get,list,update,watch|coordination.orch.io|leasecandidates'
  ]
}

const CONTROLLER = 'system:controller:'

export const LATER_BINDINGS: readonly DefaultBinding[] = [
  ...LATER_ROLES.map(({ name, gates = [] }) => ({
    name, gates, subjects: name.startsWith(CONTROLLER)
      ? [`ServiceAccount:orch-system:${name.slice(CONTROLLER.length)}`]
      : ['Group:system:serviceaccounts']
  })),
  {
    name: 'system::leader-locking-orch-controller-manager', namespace: 'orch-system', kind: 'Role', gates: ['1.36'],
    subjects: ['ServiceAccount:orch-system:leader-election-controller']
  }
]
