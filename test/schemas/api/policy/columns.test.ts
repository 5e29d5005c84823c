import t from 'tap'
import { podDisruptionBudgets } from '../../../../schemas/api/policy/poddisruptionbudgets.js'
import { podSecurityPolicies } from '../../../../schemas/api/policy/podsecuritypolicies.js'
import { cellsOf } from '../cells.js'

t.test('a disruption budget, in both versions', async t => {
  for (const representation of podDisruptionBudgets.representations) {
    const budget = (spec: object) => cellsOf(representation, {
      spec, status: { disruptionsAllowed: 1, currentHealthy: 3, desiredHealthy: 2, expectedPods: 3 }
    })
    t.same(
      budget({ minAvailable: 2 }),
      { Name: 'web', 'Min Available': '2', 'Max Unavailable': 'N/A', 'Allowed Disruptions': 1, Age: '24h' },
      representation.apiVersion
    )
    t.hasStrict(budget({ maxUnavailable: '30%' }), { 'Min Available': 'N/A', 'Max Unavailable': '30%' })
    t.hasStrict(budget({ maxUnavailable: 0 }), { 'Max Unavailable': '0' })
  }
})

t.test('a security policy', async t => {
  const rule = { rule: 'RunAsAny' }
  const spec = {
    privileged: true,
    allowedCapabilities: ['NET_ADMIN', 'SYS_TIME'],
    volumes: ['configMap', 'secret'],
    seLinux: rule,
    runAsUser: { rule: 'MustRunAsNonRoot' },
    fsGroup: { rule: 'MayRunAs' },
    supplementalGroups: rule
  }
  t.same(cellsOf(podSecurityPolicies, { metadata: { name: 'restricted' }, spec }), {
    Name: 'restricted', Priv: 'true', Caps: 'NET_ADMIN,SYS_TIME', SELinux: 'RunAsAny', RunAsUser: 'MustRunAsNonRoot',
    FsGroup: 'MayRunAs', SupGroup: 'RunAsAny', ReadOnlyRootFs: false, Volumes: 'configMap,secret'
  })
  t.hasStrict(
    cellsOf(podSecurityPolicies, {
      spec: { ...spec, privileged: false, allowedCapabilities: [], readOnlyRootFilesystem: true }
    }),
    { Priv: 'false', Caps: '', ReadOnlyRootFs: true }
  )
})
