/** What restarts `npm run dev`. */
import t from 'tap'
import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

type WatchSources = (root: string, inputs: readonly string[], changed: () => void) => () => void
const { watchSources } = await import(fileURLToPath(new URL(
  '../../build/source-watch.js', import.meta.url
))) as { watchSources: WatchSources }

t.test('a change of a source is reported, also of a new and a replaced one', async t => {
  const root = t.testdir({ 'cli.ts': '', storage: { etcd: { 'a.ts': '' } } })
  let reports = 0
  let arrived = (): void => {}
  const close = watchSources(root, ['cli.ts', 'storage/etcd/a.ts', 'dist/b.js', 'node_modules/c.js'], () => {
    reports++
    arrived()
  })
  t.teardown(close)
  const report = async (change: () => void): Promise<void> => {
    const next = new Promise<void>(resolve => { arrived = resolve })
    change()
    await next
  }
  await report(() => { writeFileSync(join(root, 'storage/etcd/a.ts'), 'changed') })
  await report(() => {
    mkdirSync(join(root, 'storage/embedded'))
    writeFileSync(join(root, 'storage/embedded/new.ts'), '')
  })
  await report(() => {
    writeFileSync(join(root, 'storage/a.tmp'), 'replaced')
    renameSync(join(root, 'storage/a.tmp'), join(root, 'storage/etcd/a.ts'))
  })
  await report(() => { writeFileSync(join(root, 'cli.ts'), 'changed') })
  t.ok(reports >= 4)
})
