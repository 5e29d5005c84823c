import t from 'tap'
import { losesFields, runtimeWarnings } from '../../serving/runtime.js'

t.test('versions of Node that lose header fields are known, and a start on one logs a line', async t => {
  for (const version of ['20.19.0', '20.20.2', '21.7.3', '22.0.0', '22.16.9', '23.11.1', '24.0.2', '24.1.0']) {
    t.ok(losesFields(version), version)
  }
  for (const version of ['22.17.0', '22.23.3', '24.2.0', '24.21.0', '25.0.0', '26.1.0']) {
    t.notOk(losesFields(version), version)
  }
  t.same(runtimeWarnings('24.2.0'), [])
  const [line, ...others] = runtimeWarnings('22.16.0')
  t.same(others, [])
  t.match(line, /^Node 22\.16\.0 [^\n]*credentials too[^\n]*run Node 22\.17, 24\.2 or a later one$/)
})
