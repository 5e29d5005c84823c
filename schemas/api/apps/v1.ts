/** The public types of apps/v1. */
export { ControllerRevision } from './controllerrevisions.js'
export {
  DaemonSet, DaemonSetCondition, DaemonSetSpec, DaemonSetStatus, DaemonSetUpdateStrategy, RollingUpdateDaemonSet
} from './daemonsets.js'
export {
  Deployment, DeploymentCondition, DeploymentSpec, DeploymentStatus, DeploymentStrategy, RollingUpdateDeployment
} from './deployments.js'
export { ReplicaSet, ReplicaSetCondition, ReplicaSetSpec, ReplicaSetStatus } from './replicasets.js'
export {
  RollingUpdateStatefulSetStrategy, StatefulSet, StatefulSetCondition, StatefulSetPersistentVolumeClaimRetentionPolicy,
  StatefulSetSpec, StatefulSetStatus, StatefulSetUpdateStrategy
} from './statefulsets.js'
