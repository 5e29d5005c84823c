/** `docs/not-implemented.md` lists what is not there, all of it and nothing else. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { ABSENT as FLAGS } from '../config/flags/absent.js'
import { ABSENT as GATES } from '../schemas/gates.js'
import { representations } from '../schemas/resources.js'

const root = fileURLToPath(new URL('../../', import.meta.url))
const text = readFileSync(`${root}docs/not-implemented.md`, 'utf8')

/** The rows of a section's table, without its head. */
const rows = (section: string): string[][] => (text.split(`## ${section}\n`)[1]?.split('\n## ')[0] ?? '').split('\n')
  .filter(line => line.startsWith('|')).slice(2).map(line => line.split('|').slice(1, -1).map(cell => cell.trim()))

const names = (cell = ''): string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name)

t.test('resources of 1.36', async t => {
  const all = JSON.parse(readFileSync(`${root}test/resources-1.36.json`, 'utf8')) as Record<string, string[]>
  const served = new Set(representations.map(({ group, version, plural }) => `${group}/${version}/${plural}`))
  const absent = Object.entries(all)
    .flatMap(([group, plurals]) => plurals.map(plural => `${group}/${plural}`))
    .filter(name => !served.has(name))
  const listed = rows('Resources').flatMap(([group, plurals]) =>
    names(plurals?.split(';')[0]).map(plural => `${names(group)[0] ?? ''}/${plural}`))
  t.ok(listed.length > 5)
  t.strictSame(listed.sort(), absent.sort())
})

t.test('flags', async t => {
  t.strictSame(
    rows('Flags').flatMap(([flags]) => names(flags)).sort(), Object.keys(FLAGS).map(flag => `--${flag}`).sort()
  )
  const reasons = new Set(Object.values(FLAGS))
  for (const [, because = ''] of rows('Flags')) t.ok(reasons.has(because), because)
})

t.test('feature gates', async t => {
  t.strictSame(rows('Feature gates').flatMap(([gates]) => names(gates)).sort(), [...GATES].sort())
})
