/** How the cost of a change grows with its watches, and that watches of something else cost nothing. Over HTTP/2. */
import { cpuInTurns } from './compare.js'
import { Ends } from './ends.js'
import { call } from './http1.js'
import { newestVersion, object } from './objects.js'
import { launch, type Child } from './process.js'
import { UNBOUNDED } from './reads.js'
import { figure, median, out, report, table } from './report.js'
import type { Scale } from './scale.js'
import { Watchers } from './watchers.js'

const configs = (namespace: string): string => `/api/v1/namespaces/${namespace}/configmaps`
/** The namespace of the few watches; the many watch the other. */
const QUIET = 'orch-public'
const BUSY = 'default'

class Watched {
  readonly child: Child
  readonly few = new Watchers()
  readonly many = new Watchers()
  #changes = 0

  constructor (child: Child) { this.child = child }

  async open (namespace: string, count: number): Promise<void> {
    const watchers = namespace === QUIET ? this.few : this.many
    const { code } = await call(this.child.port, 'POST', configs(namespace), object('watched'))
    if (code !== 201) throw new Error(`create answered ${code}`)
    const version = await newestVersion(this.child.port, configs(namespace))
    await watchers.open(2, this.child.port, `${configs(namespace)}?watch=1&resourceVersion=${version}`, count)
  }

  async change (namespace: string): Promise<void> {
    const watchers = namespace === QUIET ? this.few : this.many
    await watchers.expect(1, async () => {
      const { code } = await call(
        this.child.port, 'PUT', `${configs(namespace)}/watched`, object('watched', false, 2000 + this.#changes++ % 40)
      )
      if (code !== 200) throw new Error(`update answered ${code}`)
    })
  }

  close (): void {
    this.few.close()
    this.many.close()
  }
}

export async function crowd (scale: Scale): Promise<void> {
  await using ends = new Ends()
  const alone = new Watched(ends.add(await launch(UNBOUNDED)))
  const crowded = new Watched(ends.add(await launch(UNBOUNDED)))
  for (const watched of [alone, crowded]) await watched.open(QUIET, 1)
  await crowded.open(BUSY, scale.crowd)

  const perChange = async (parties: readonly Watched[], namespace: string, changes: number): Promise<number[][]> => {
    const children = parties.map(watched => ({ ...watched.child, watched }))
    const costs = await cpuInTurns(children, scale.rounds, changes, async ({ watched }) => {
      for (let at = 0; at < changes; at++) await watched.change(namespace)
    })
    return children.map(child => costs.get(child) ?? [])
  }
  const many = scale.crowd.toLocaleString('en')
  const unit = 'µs of CPU a change'
  const [one = [], oneOfMany = []] = await perChange([alone, crowded], QUIET, scale.events * 10)
  report({
    work: `one watches, ${many} watch another namespace, beside one alone`,
    unit,
    ours: oneOfMany,
    limit: one,
    most: 1.25
  })
  await alone.open(BUSY, scale.watchers)
  const [thousand = []] = await perChange([alone], BUSY, scale.events)
  const [all = []] = await perChange([crowded], BUSY, Math.ceil(scale.events / 4))
  const row = (watchers: number, costs: readonly number[]): string[] => [
    watchers.toLocaleString('en'), figure(median(costs)), figure(median(costs) / watchers)
  ]
  out.print(table(
    ['Watchers', 'µs of CPU a change', 'µs of CPU a delivery'],
    [row(1, one), row(scale.watchers, thousand), row(scale.crowd, all)]
  ))
  for (const watched of [alone, crowded]) watched.close()
}
