/** The resources of apps: pods in numbers. */
import { controllerRevisions } from './controllerrevisions.js'
import { daemonSets } from './daemonsets.js'
import { deployments } from './deployments.js'
import { replicaSets } from './replicasets.js'
import { statefulSets } from './statefulsets.js'

export const apps = [controllerRevisions, daemonSets, deployments, replicaSets, statefulSets]
