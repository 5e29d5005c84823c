/** Behaviours by release: each is asked for, and code asks for no release by its number. */
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { BEHAVIOURS } from '../../schemas/behaviours.js'
import { featureGates } from '../../schemas/gates.js'
import { SINCE } from '../../schemas/meta/release.js'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const ROOMS = [
  'admission', 'answers', 'auth', 'config', 'controllers', 'flow-control', 'plugins', 'registry', 'routes', 'schemas',
  'serving'
]
const sources = [...ROOMS.flatMap(room => readdirSync(`${root}${room}`, { recursive: true, encoding: 'utf8' })
  .filter(name => name.endsWith('.ts')).map(name => `${room}/${name}`)), 'app.ts']
const code = new Map(sources.map(file => [file, readFileSync(`${root}${file}`, 'utf8')]))

t.test('each behaviour came with a release, and is asked for', async t => {
  const all = [...code].filter(([file]) => file !== 'schemas/behaviours.ts').map(([, text]) => text).join('\n')
  for (const [name, since] of Object.entries(BEHAVIOURS)) {
    t.ok(SINCE.includes(since), `${name}: ${since}`)
    t.ok(all.includes(`'${name}'`), name)
    t.strictSame(
      [featureGates().enabled(name), featureGates({}, { release: '1.36' }).enabled(name)], [false, true], name
    )
  }
})

t.test('code asks for no release by its number', async t => {
  for (const [file, text] of code) {
    t.strictSame(text.match(/(?:enabled|isOn)\([^)\n]*'1\.\d+'\)/g) ?? [], [], file)
  }
})
