import t from 'tap'
import { merged } from '../../../plugins/metrics/merged.js'
import { finish } from '../../../schemas/steps.js'

const text = (...lines: string[]): Uint8Array => Buffer.from(`${lines.join('\n')}\n`)
const lines = (...texts: Uint8Array[]): string[] =>
  finish(merged(texts.map((text, at) => ({ process: String(at + 1), text })))).toString().split('\n').slice(0, -1)

t.test('counters, histograms and gauges of what each process has are added up', async t => {
  t.same(lines(
    text(
      '# HELP a_total A.', '# TYPE a_total counter', 'a_total{verb="GET"} 3', 'a_total{verb="PUT"} 1', '# HELP g G.',
      '# TYPE g gauge', 'g 2',
      '# HELP h H.', '# TYPE h histogram', 'h_bucket{le="0.1"} 1', 'h_bucket{le="+Inf"} 2', 'h_sum 0.5', 'h_count 2'
    ),
    text('# HELP a_total A.', '# TYPE a_total counter', 'a_total{verb="GET"} 4', '# HELP g G.', '# TYPE g gauge', 'g 5',
      '# HELP h H.', '# TYPE h histogram', 'h_bucket{le="0.1"} 0', 'h_bucket{le="+Inf"} 1', 'h_sum 0.25', 'h_count 1')
  ), [
    '# HELP a_total A.', '# TYPE a_total counter', 'a_total{verb="GET"} 7', 'a_total{verb="PUT"} 1', '# HELP g G.',
    '# TYPE g gauge', 'g 7',
    '# HELP h H.', '# TYPE h histogram', 'h_bucket{le="0.1"} 1', 'h_bucket{le="+Inf"} 3', 'h_sum 0.75', 'h_count 3'
  ])
})

t.test('a metric of shared state is reported once for all processes', async t => {
  const of = (count: number): Uint8Array => text(
    '# HELP apiserver_storage_objects O.', '# TYPE apiserver_storage_objects gauge',
    `apiserver_storage_objects{resource="pods"} ${count}`
  )
  t.same(lines(of(7), of(9)).slice(2), ['apiserver_storage_objects{resource="pods"} 9'])
})

t.test('where a sum says nothing each process has its series', async t => {
  const of = (value: number): Uint8Array => text(
    '# HELP nodejs_heap_size N.', '# TYPE nodejs_heap_size gauge', `nodejs_heap_size ${value}`, '# HELP s S.',
    '# TYPE s summary', `s{a="b",quantile="0.5"} ${value}`, 's_sum{a="b"} 1'
  )
  t.same(lines(of(1), of(2)).filter(line => !line.startsWith('#')), [
    'nodejs_heap_size{process="1"} 1', 'nodejs_heap_size{process="2"} 2',
    's{a="b",quantile="0.5",process="1"} 1', 's_sum{a="b"} 2', 's{a="b",quantile="0.5",process="2"} 2'
  ])
})

t.test('values of labels may have any characters', async t => {
  const of = text('# HELP a_total A.', '# TYPE a_total counter', 'a_total{path="a } 5 \\" b"} 1')
  t.same(lines(of, of).slice(2), ['a_total{path="a } 5 \\" b"} 2'])
})
