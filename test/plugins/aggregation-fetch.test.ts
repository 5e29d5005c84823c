/** How long this server waits for documents of extension servers. */
import t from 'tap'
import { discoveryFetch, documentFetch, type Exchange } from '../../plugins/aggregation/fetch.js'
import { OWN_NAMES } from '../../schemas/naming.js'

t.test('discovery, for which clients wait, has five seconds; other documents have the usual time', async t => {
  const deadlines: Array<number | undefined> = []
  const exchange: Exchange = async (_remote, { deadline }) => {
    deadlines.push(deadline)
    return { status: 200, etag: '', body: Buffer.alloc(0) }
  }
  const remote = {} as Parameters<Exchange>[0] // not read by this exchange
  await discoveryFetch(exchange, OWN_NAMES)(remote, '/apis', '')
  await documentFetch(exchange, OWN_NAMES)(remote, '/openapi/v2', '')
  t.same(deadlines, [5000, undefined])
})
