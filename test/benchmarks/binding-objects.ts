/** ClusterRoleBindings with 18 subjects, 2.4 KB as sent: many small fields, none of them long. */

export const ROLE_BINDINGS = '/apis/rbac.authorization.orch.io/v1/clusterrolebindings'
const SUBJECTS = 18

const subject = (at: number): object => at % 3 === 0
  ? { kind: 'ServiceAccount', name: `controller-of-workloads-${at}`, namespace: `team-with-a-name-${at}` }
  : {
      kind: at % 3 === 1 ? 'User' : 'Group',
      name: `somebody-in-particular-${at}@example.com`,
      apiGroup: 'rbac.authorization.orch.io'
    }

export const roleBinding = (name: string, turn = 0): string => JSON.stringify({
  apiVersion: 'rbac.authorization.orch.io/v1',
  kind: 'ClusterRoleBinding',
  metadata: {
    name,
    labels: { 'app.example.com/name': 'shop', 'app.example.com/part-of': 'store' },
    annotations: { 'example.com/turn': String(turn), 'example.com/contact': 'operators@example.com' }
  },
  roleRef: { apiGroup: 'rbac.authorization.orch.io', kind: 'ClusterRole', name: 'view' },
  subjects: Array.from({ length: SUBJECTS }, (_, at) => subject(at))
})
