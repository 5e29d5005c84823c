import t from 'tap'
import { create } from '../../../registry/verbs/create.js'
import { update } from '../../../registry/verbs/update.js'
import { laggingBackend } from '../lagging-backend.js'
import { cacheOf, config, configMapStore, context, target } from '../store.js'

t.test('however many reads wait, one request for progress is sent at a time', async t => {
  const lagging = await laggingBackend()
  let asked = 0
  let silent = false
  const store = configMapStore(t, {
    ...lagging,
    watch: request => {
      const made = lagging.watch(request)
      return {
        requestProgress: () => {
          asked++
          if (!silent) made.requestProgress()
        },
        cancel: () => { made.cancel() }
      }
    }
  })
  await store.open()
  const { revision } = (await create(store, config('one'), target(''), context))
  silent = true // its responses take longer than the changes that arrive meanwhile
  asked = 0
  const since = performance.now()
  const changes = 50
  const waiting = Array.from({ length: 50 }, async () => { await cacheOf(store).reach(revision + changes) })
  for (let at = 0; at < changes; at++) await update(store, config('one', { at: String(at) }), target('one'), context)
  await Promise.all(waiting)
  const polls = (performance.now() - since) / 24 // an unanswered request is repeated every 25 ms
  t.ok(
    asked <= polls + 1, `${asked} questions of 50 that waited for ${changes} changes, in the time of ${polls.toFixed()}`
  )
  t.ok(asked > 0, 'and at least one request is sent')
})
