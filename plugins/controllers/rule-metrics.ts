/** How long the rules of definitions take, with upstream's names. */
import type { RuleObserver } from '../../schemas/custom/rules.js'
import type { Steps } from '../../schemas/steps.js'
import type { Histogram, Metrics } from '../shared/metric-series.js'

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

export function ruleMetrics ({ histogram }: Metrics): RuleObserver {
  const compilations = histogram(
    'apiserver_cel_compilation_duration_seconds', 'Seconds that it took to compile the rules of a schema.', SECONDS
  ).with()
  const evaluations = histogram(
    'apiserver_cel_evaluation_duration_seconds', 'Seconds that it took to evaluate the rules of an object.', SECONDS
  ).with()
  return {
    compiling: steps => timed(steps, compilations),
    evaluating: steps => timed(steps, evaluations)
  }
}

/** Counts no time between two steps, in which the server does something else. */
function * timed<T> (steps: Steps<T>, series: Histogram): Steps<T> {
  let seconds = 0
  for (;;) {
    const since = performance.now()
    const { done, value } = steps.next()
    seconds += (performance.now() - since) / 1000
    if (done === true) {
      series.observe(seconds)
      return value
    }
    yield
  }
}
