/** A pod loses tolerations that others cover; the time is proportional to their number, also for thousands. */
import t from 'tap'
import type { Toleration } from '../../schemas/api/core/affinity.js'
import { Tolerated, mergeTolerations } from '../../admission/tolerations.js'
import { podUsage } from '../../admission/quota/pods.js'
import type { Pod } from '../../schemas/api/core/pods.js'
import { ownTime } from '../own-time.js'

const TABLE: ReadonlyArray<readonly [title: string, wide: Toleration, narrow: Toleration, covers: boolean]> = [
  ['the same', { key: 'a', value: 'x' }, { key: 'a', value: 'x' }, true],
  ['another key', { key: 'a', operator: 'Exists' }, { key: 'b', operator: 'Exists' }, false],
  ['another value', { key: 'a', value: 'x' }, { key: 'a', value: 'y' }, false],
  ['any value', { key: 'a', operator: 'Exists' }, { key: 'a', value: 'y' }, true],
  ['one value of any', { key: 'a', value: 'y' }, { key: 'a', operator: 'Exists' }, false],
  ['any key', { operator: 'Exists' }, { key: 'a', value: 'y', effect: 'NoSchedule' }, true],
  ['no key is any only where it exists', { value: 'y' }, { key: 'a', value: 'y' }, false],
  ['another effect', { key: 'a', effect: 'NoSchedule' }, { key: 'a', effect: 'NoExecute' }, false],
  ['any effect', { key: 'a' }, { key: 'a', effect: 'NoExecute' }, true],
  [
    'a shorter time', { key: 'a', effect: 'NoExecute', tolerationSeconds: 5 },
    { key: 'a', effect: 'NoExecute', tolerationSeconds: 4 }, true
  ],
  [
    'a longer time', { key: 'a', effect: 'NoExecute', tolerationSeconds: 5 },
    { key: 'a', effect: 'NoExecute', tolerationSeconds: 6 }, false
  ],
  ['for ever', { key: 'a', tolerationSeconds: 5 }, { key: 'a' }, false],
  [
    'a time that does not count', { key: 'a', effect: 'NoSchedule', tolerationSeconds: 5 },
    { key: 'a', effect: 'NoSchedule' }, true
  ]
]

t.test('a toleration covers every narrower one', async t => {
  for (const [title, wide, narrow, covers] of TABLE) t.equal(new Tolerated([wide]).covers(narrow), covers, title)
})

t.test('of several tolerations the widest stay, of identical ones the first, of equivalent ones the last', async t => {
  const narrow = { key: 'a', value: 'x' }
  const wide = { key: 'a', operator: 'Exists' }
  t.same(mergeTolerations([narrow], [wide, narrow]), [wide])
  t.same(mergeTolerations([wide, narrow], [wide]), [wide])
  t.same(mergeTolerations([narrow], [{ ...narrow, operator: 'Equal' }]), [{ ...narrow, operator: 'Equal' }])
  t.same(
    mergeTolerations(
      [{ key: 'a', effect: 'NoExecute', tolerationSeconds: 1 }],
      [{ key: 'a', effect: 'NoExecute', tolerationSeconds: 9 }, { key: 'a', effect: 'NoExecute', tolerationSeconds: 5 }]
    ),
    [{ key: 'a', effect: 'NoExecute', tolerationSeconds: 9 }]
  )
})

t.test('thousands of tolerations or resources of a pod do not hold the event loop', async t => {
  const many = Array.from({ length: 12_000 }, (_, index) => index)
  const containers = many.map(index => ({ name: `c${index}`, resources: { requests: { [`a.b/r${index}`]: '1' } } }))
  for (const [what, work] of [
    ['keys', () => mergeTolerations(many.map(index => ({ key: `k${index}` })), [])],
    ['values', () => mergeTolerations(many.map(index => ({ key: 'k', value: `v${index}` })), [])],
    [
      'times',
      () => mergeTolerations(many.map(index => ({ key: 'k', effect: 'NoExecute', tolerationSeconds: index })), [])
    ],
    ['resources', () => podUsage({ metadata: {}, status: {}, spec: { containers } } as unknown as Pod, 0)]
  ] as const) {
    const since = ownTime()
    work()
    t.ok(ownTime() - since < 1000, what)
  }
})
