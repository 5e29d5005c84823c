/** Lists as long as a body allows are validated in one pass: comparing each item with all others would take seconds. */
import t from 'tap'
import { updated, created, served, type Plain } from './rules.js'
import { ownTime } from '../../own-time.js'

const MAX_MS = 2000
const numbered = <T>(length: number, make: (index: number) => T): T[] =>
  Array.from({ length }, (_, index) => make(index))
const named = (prefix: string): string[] => numbered(45_000, index => `${prefix}${index}`)

const LONG: ReadonlyArray<readonly [what: string, version: string, plural: string, body: Plain]> = [
  [
    'zones of a topology', 'storage.orch.io/v1', 'storageclasses',
    { provisioner: 'a', allowedTopologies: [{ matchLabelExpressions: [{ key: 'zone', values: named('z') }] }] }
  ],
  [
    'topologies',
    'storage.orch.io/v1',
    'storageclasses',
    {
      provisioner: 'a',
      allowedTopologies: numbered(9000, index => ({ matchLabelExpressions: [{ key: 'zone', values: [`z${index}`] }] }))
    }
  ],
  [
    'topology keys of a driver', 'storage.orch.io/v1', 'csinodes',
    { spec: { drivers: [{ name: 'd', nodeID: 'n', topologyKeys: named('k') }] } }
  ],
  [
    'drivers of a node', 'storage.orch.io/v1', 'csinodes',
    { spec: { drivers: numbered(14_000, index => ({ name: `d${index}`, nodeID: 'n' })) } }
  ],
  [
    'resources of a rule',
    'admissionregistration.orch.io/v1',
    'validatingwebhookconfigurations',
    {
      webhooks: [
        {
          name: 'a.b.c',
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
          clientConfig: { url: 'https://a.b/c' },
          rules: [{ operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: named('r') }]
        }
      ]
    }
  ]
]

for (const [what, version, plural, body] of LONG) {
  t.test(what, async t => {
    const one = served(version, plural)
    const start = ownTime()
    t.same(created(one, body).errors, [])
    t.same(updated(one, body, body).errors, [])
    const took = ownTime() - start
    t.ok(took < MAX_MS, `${took} ms`)
  })
}
