/**
 * The components of a cluster that watch and hardly write: together with a controller and a scheduler, which do write
 * (cluster-control.ts), they are twelve. Each is an ordinary user.
 */
import { Member, type Heard, type Place } from './cluster-member.js'

const GROUP = 'system:serviceaccounts:kube-system'
const RBAC = '/apis/rbac.authorization.k8s.io/v1'
const [PODS, NODES, SERVICES, SECRETS, CONFIG_MAPS, NAMESPACES] = [
  'pods', 'nodes', 'services', 'secrets', 'configmaps', 'namespaces'
].map(plural => `/api/v1/${plural}`) as [string, string, string, string, string, string]
const SLICES = '/apis/discovery.k8s.io/v1/endpointslices'
const SETS = '/apis/apps/v1/replicasets'
const LEASES = '/apis/coordination.k8s.io/v1/leases'

/** What each of them has informers of. */
const INFORMED: Readonly<Record<string, readonly string[]>> = {
  'node-controller': [NODES, LEASES, PODS],
  'endpointslice-controller': [PODS, SERVICES, SLICES, NODES],
  'disruption-controller': [PODS, SETS],
  'serviceaccount-controller': [NAMESPACES, '/api/v1/serviceaccounts'],
  'service-proxy': [SERVICES, SLICES, NODES],
  'cluster-dns': [SERVICES, SLICES, NAMESPACES],
  'state-metrics': [PODS, NODES, SERVICES, SLICES, SETS, LEASES, NAMESPACES, CONFIG_MAPS, SECRETS],
  'ingress-controller': [SERVICES, SLICES, SECRETS, CONFIG_MAPS],
  'cluster-autoscaler': [PODS, NODES, SETS],
  'event-exporter': ['/api/v1/events']
}
/** Whose informers measure how long events take. */
const OBSERVER = 'node-controller'

/** Starts them. @param admin may grant them what they need */
export async function startComponents (place: Place, admin: Member): Promise<Member[]> {
  await admin.ask('others', 'POST', `${RBAC}/clusterroles`, {
    metadata: { name: 'readers' }, rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['get', 'list', 'watch'] }]
  })
  await admin.ask('others', 'POST', `${RBAC}/clusterrolebindings`, {
    metadata: { name: 'readers' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'readers' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: GROUP }]
  })
  const { leases, statuses } = place.tally
  const observed: Readonly<Record<string, Heard>> = {
    [LEASES]: (_, { metadata }) => { leases.came(metadata.resourceVersion as string) },
    [PODS]: (_, { metadata }) => { statuses.came(metadata.resourceVersion as string) }
  }
  return await Promise.all(Object.entries(INFORMED).map(async ([name, paths]) => {
    const member = new Member(
      place, `system:serviceaccount:kube-system:${name}`, ['system:serviceaccounts', GROUP, 'system:authenticated']
    )
    await Promise.all(paths.map(path =>
      member.inform(path, (name === OBSERVER ? observed[path] : undefined) ?? (() => {}), false)))
    return member
  }))
}
