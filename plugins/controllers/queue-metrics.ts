/** `workqueue_…` metrics of the controllers' work queues, with upstream's names. */
import type { ObserveQueue } from '../../controllers/work-queue.js'
import type { Metrics } from '../shared/metric-series.js'

/** From 10 nanoseconds to 10 seconds. */
const SECONDS = [1e-8, 1e-7, 1e-6, 1e-5, 0.0001, 0.001, 0.01, 0.1, 1, 10]

export function observeQueues ({ counter, gauge, histogram, beforeScrape }: Metrics): ObserveQueue {
  const adds = counter('workqueue_adds_total', 'Keys that were added to a queue.', ['name'])
  const depths = gauge('workqueue_depth', 'Keys that are to be worked on.', ['name'])
  const waits = histogram(
    'workqueue_queue_duration_seconds', 'Seconds that keys waited until they were worked on.', SECONDS, ['name']
  )
  const works = histogram('workqueue_work_duration_seconds', 'Seconds that work on a key took.', SECONDS, ['name'])
  const unfinished = gauge(
    'workqueue_unfinished_work_seconds',
    'Seconds that the work under way has taken until now, all of it together: a value that rises steadily is work ' +
      'that is stuck.',
    ['name']
  )
  const longest = gauge(
    'workqueue_longest_running_processor_seconds', 'Seconds that the longest work under way has taken until now.',
    ['name']
  )
  const retries = counter(
    'workqueue_retries_total', 'Keys that came back to a queue as their work was not done.', ['name']
  )
  return (name, queue) => {
    const added = adds.with(name)
    const retried = retries.with(name)
    const [depth, all, longestRunning] = [depths.with(name), unfinished.with(name), longest.with(name)]
    const [waited, took] = [waits.with(name), works.with(name)]
    beforeScrape(() => {
      const { inProgress } = queue
      depth.set(queue.depth)
      all.set(inProgress.all / 1000)
      longestRunning.set(inProgress.longest / 1000)
    })
    return {
      added: () => { added.add() },
      retried: () => { retried.add() },
      begun: milliseconds => { waited.observe(milliseconds / 1000) },
      done: milliseconds => { took.observe(milliseconds / 1000) }
    }
  }
}
