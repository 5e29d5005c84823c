/** Users, roles and events for the tests of the front page. */
import type { Json } from '../build.js'

export const TOKENS = 'root,root,1,system:masters\nann,ann,2,readers\nbob,"<script>alert(1)</script>",3\n'

/** Text that would do something if it were not escaped. */
export const ATTACK =
  '<script>alert(1)</script><img src=x onerror=alert(2)>"\'><a href="javascript:alert(3)">&lt;</style></table><!--'

export const eventOf = (name: string, message: string, type = 'Normal'): Json => ({
  apiVersion: 'v1', kind: 'Event', metadata: { name, namespace: 'default' },
  involvedObject: { kind: 'Pod', namespace: 'default', name: 'web-0' }, reason: 'Killing', message, type,
  lastTimestamp: new Date().toISOString().replace(/\.\d+/, ''), source: { component: 'node-agent' }
})

/** Lets a user read the page with config maps and events, and nothing more. */
export function dashboardRole (username: string, more: Json[] = []): Array<{ url: string, object: Json }> {
  const roles = '/apis/rbac.authorization.orch.io/v1'
  const metadata = { name: `dashboard-${username}` }
  return [
    {
      url: `${roles}/clusterroles`,
      object: {
        apiVersion: 'rbac.authorization.orch.io/v1',
        kind: 'ClusterRole',
        metadata,
        rules: [
          { nonResourceURLs: ['/'], verbs: ['get'] }, { apiGroups: [''], resources: ['configmaps'], verbs: ['list'] },
          ...more
        ]
      }
    },
    {
      url: `${roles}/clusterrolebindings`,
      object: {
        apiVersion: 'rbac.authorization.orch.io/v1',
        kind: 'ClusterRoleBinding',
        metadata,
        roleRef: { apiGroup: 'rbac.authorization.orch.io', kind: 'ClusterRole', name: metadata.name },
        subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.orch.io', name: username }]
      }
    }
  ]
}
