import t from 'tap'
import { checkedFlags } from '../../config/options.js'
import { dividedOptions, shareOf } from '../../config/divided-options.js'
import { processesProblem, servingProcesses } from '../../config/serving-processes.js'

const STORE = '--etcd-servers=http://127.0.0.1:1'

t.test('auto leaves one core to other programs, and is at least one process', async t => {
  t.same([1, 2, 8, 500].map(cores => servingProcesses({ 'serving-processes': 'auto' }, cores)), [1, 1, 7, 64])
  t.equal(servingProcesses({ 'serving-processes': '3' }, 8), 3)
})

t.test('other values are refused by name', async t => {
  for (const value of ['0', '-1', '65', '1.5', 'all', '07', '']) {
    t.throws(
      () => checkedFlags([STORE, `--serving-processes=${value}`]),
      { message: /^--serving-processes=.*must be auto or a number from 1 to 64$/ }, value
    )
  }
  for (const value of ['1', '64', 'auto']) t.equal(processesProblem(value), undefined)
})

t.test('the parts of a limit add up to it', async t => {
  for (const count of [1, 2, 3, 7, 64]) {
    for (const limit of [0, 64, 400, 401]) {
      const shares = Array.from({ length: count }, (_, at) => shareOf(limit, { number: at + 1, count }))
      t.equal(shares.reduce((sum, share) => sum + share), limit)
      t.ok(Math.max(...shares) - Math.min(...shares) <= 1)
    }
  }
})

t.test('limits of the server are divided among processes; unlimited values stay so', async t => {
  const part = { number: 2, count: 4 }
  t.match(dividedOptions({}, part).limits, {
    maxRequestsInflight: 100, maxMutatingRequestsInflight: 50, maxBodyBytesInflight: 64 * 1024 * 1024
  })
  const { limits, audit } = dividedOptions(
    {
      limits: { maxRequestsInflight: 0 },
      audit: { path: 'a', webhook: { endpoint: { url: new URL('https://a') } as never } }
    },
    part
  )
  t.equal(limits?.maxRequestsInflight, 0)
  t.same(
    [{ share: 0.25 }, { bytes: 403 }].map(encodedObjects =>
      dividedOptions({ watchCache: { encodedObjects } }, part).watchCache),
    [{ encodedObjects: { share: 0.0625 } }, { encodedObjects: { bytes: 100 } }]
  )
  t.same(audit?.webhook?.batch?.throttle, { qps: 2.5, burst: 4 })
})

t.test('options that several processes do not support are refused by name', async t => {
  t.throws(
    () => checkedFlags([STORE, '--serving-processes=4', '--max-requests-inflight=3']),
    {
      message:
        /^--serving-processes=4: is 4 processes, which share --max-requests-inflight=3; make that at least 4, or 0 for no limit$/
    }
  )
  t.throws(
    () => checkedFlags([STORE, '--serving-processes=2', '--feature-gates=StorageVersionAPI=true']),
    { message: /^--serving-processes=2: cannot be combined with --feature-gates=StorageVersionAPI=true/ }
  )
  t.doesNotThrow(() =>
    checkedFlags([STORE, '--serving-processes=4', '--max-requests-inflight=4', '--max-mutating-requests-inflight=0']))
})
