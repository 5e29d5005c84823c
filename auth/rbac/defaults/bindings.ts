/**
 * Default bindings, as upstream. A subject is `KIND:NAME` or `ServiceAccount:NAMESPACE:NAME`; the role defaults to the
 * one of the same name.
 */
import type { DefaultBinding } from './types.js'

export const BINDINGS: readonly DefaultBinding[] = [
  { name: 'cluster-admin', subjects: ['Group:system:masters'] },
  { name: 'system:basic-user', subjects: ['Group:system:authenticated'] },
  {
    name: 'system:controller:attachdetach-controller', subjects: [
      'ServiceAccount:orch-system:attachdetach-controller'
    ]
  },
  { name: 'system:controller:certificate-controller', subjects: ['ServiceAccount:orch-system:certificate-controller'] },
  {
    name: 'system:controller:clusterrole-aggregation-controller', subjects: [
      'ServiceAccount:orch-system:clusterrole-aggregation-controller'
    ]
  },
  { name: 'system:controller:cronjob-controller', subjects: ['ServiceAccount:orch-system:cronjob-controller'] },
  { name: 'system:controller:daemon-set-controller', subjects: ['ServiceAccount:orch-system:daemon-set-controller'] },
  { name: 'system:controller:deployment-controller', subjects: ['ServiceAccount:orch-system:deployment-controller'] },
  { name: 'system:controller:disruption-controller', subjects: ['ServiceAccount:orch-system:disruption-controller'] },
  { name: 'system:controller:endpoint-controller', subjects: ['ServiceAccount:orch-system:endpoint-controller'] },
  {
    name: 'system:controller:endpointslice-controller', subjects: [
      'ServiceAccount:orch-system:endpointslice-controller'
    ]
  },
  {
    name: 'system:controller:endpointslicemirroring-controller', subjects: [
      'ServiceAccount:orch-system:endpointslicemirroring-controller'
    ]
  },
  {
    name: 'system:controller:ephemeral-volume-controller', subjects: [
      'ServiceAccount:orch-system:ephemeral-volume-controller'
    ]
  },
  { name: 'system:controller:expand-controller', subjects: ['ServiceAccount:orch-system:expand-controller'] },
  {
    name: 'system:controller:generic-garbage-collector', subjects: [
      'ServiceAccount:orch-system:generic-garbage-collector'
    ]
  },
  {
    name: 'system:controller:horizontal-pod-autoscaler', subjects: [
      'ServiceAccount:orch-system:horizontal-pod-autoscaler'
    ]
  },
  { name: 'system:controller:job-controller', subjects: ['ServiceAccount:orch-system:job-controller'] },
  { name: 'system:controller:namespace-controller', subjects: ['ServiceAccount:orch-system:namespace-controller'] },
  { name: 'system:controller:node-controller', subjects: ['ServiceAccount:orch-system:node-controller'] },
  {
    name: 'system:controller:persistent-volume-binder', subjects: [
      'ServiceAccount:orch-system:persistent-volume-binder'
    ]
  },
  { name: 'system:controller:pod-garbage-collector', subjects: ['ServiceAccount:orch-system:pod-garbage-collector'] },
  {
    name: 'system:controller:pv-protection-controller', subjects: [
      'ServiceAccount:orch-system:pv-protection-controller'
    ]
  },
  {
    name: 'system:controller:pvc-protection-controller', subjects: [
      'ServiceAccount:orch-system:pvc-protection-controller'
    ]
  },
  { name: 'system:controller:replicaset-controller', subjects: ['ServiceAccount:orch-system:replicaset-controller'] },
  { name: 'system:controller:replication-controller', subjects: ['ServiceAccount:orch-system:replication-controller'] },
  {
    name: 'system:controller:resourcequota-controller', subjects: [
      'ServiceAccount:orch-system:resourcequota-controller'
    ]
  },
  { name: 'system:controller:root-ca-cert-publisher', subjects: ['ServiceAccount:orch-system:root-ca-cert-publisher'] },
  { name: 'system:controller:route-controller', subjects: ['ServiceAccount:orch-system:route-controller'] },
  {
    name: 'system:controller:service-account-controller', subjects: [
      'ServiceAccount:orch-system:service-account-controller'
    ]
  },
  { name: 'system:controller:service-controller', subjects: ['ServiceAccount:orch-system:service-controller'] },
  { name: 'system:controller:statefulset-controller', subjects: ['ServiceAccount:orch-system:statefulset-controller'] },
  {
    name: 'system:controller:storage-version-garbage-collector', subjects: [
      'ServiceAccount:orch-system:storage-version-garbage-collector'
    ], gates: ['StorageVersionAPI', 'APIServerIdentity']
  },
  {
    name: 'system:controller:ttl-after-finished-controller', subjects: [
      'ServiceAccount:orch-system:ttl-after-finished-controller'
    ]
  },
  { name: 'system:controller:ttl-controller', subjects: ['ServiceAccount:orch-system:ttl-controller'] },
  { name: 'system:discovery', subjects: ['Group:system:authenticated'] },
  { name: 'system:monitoring', subjects: ['Group:system:monitoring'] },
  { name: 'system:node', subjects: [] },
  { name: 'system:node-proxier', subjects: ['User:system:orch-proxy'] },
  { name: 'system:orch-controller-manager', subjects: ['User:system:orch-controller-manager'] },
  { name: 'system:orch-dns', subjects: ['ServiceAccount:orch-system:orch-dns'] },
  { name: 'system:orch-scheduler', subjects: ['User:system:orch-scheduler'] },
  { name: 'system:public-info-viewer', subjects: ['Group:system:authenticated', 'Group:system:unauthenticated'] },
  { name: 'system:service-account-issuer-discovery', subjects: ['Group:system:serviceaccounts'] },
  { name: 'system:volume-scheduler', subjects: ['User:system:orch-scheduler'] },
  {
    namespace: 'orch-system', name: 'system::extension-apiserver-authentication-reader', role:
      'extension-apiserver-authentication-reader', kind: 'Role', subjects: [
      'User:system:orch-controller-manager', 'User:system:orch-scheduler'
    ]
  },
  {
    namespace: 'orch-system', name: 'system::leader-locking-orch-controller-manager', role:
      'system::leader-locking-orch-controller-manager', kind: 'Role', subjects: [
      'User:system:orch-controller-manager', 'ServiceAccount:orch-system:orch-controller-manager'
    ]
  },
  {
    namespace: 'orch-system', name:
      'system::leader-locking-orch-scheduler', role: 'system::leader-locking-orch-scheduler', kind: 'Role', subjects: [
      'User:system:orch-scheduler', 'ServiceAccount:orch-system:orch-scheduler'
    ]
  },
  {
    namespace: 'orch-system', name: 'system:controller:bootstrap-signer', role: 'system:controller:bootstrap-signer',
    kind: 'Role', subjects: ['ServiceAccount:orch-system:bootstrap-signer']
  },
  {
    namespace: 'orch-system', name: 'system:controller:cloud-provider', role: 'system:controller:cloud-provider',
    kind: 'Role', subjects: ['ServiceAccount:orch-system:cloud-provider']
  },
  {
    namespace: 'orch-system', name: 'system:controller:token-cleaner', role: 'system:controller:token-cleaner',
    kind: 'Role', subjects: ['ServiceAccount:orch-system:token-cleaner']
  },
  {
    namespace: 'orch-public', name: 'system:controller:bootstrap-signer', role: 'system:controller:bootstrap-signer',
    kind: 'Role', subjects: ['ServiceAccount:orch-system:bootstrap-signer']
  }
]
