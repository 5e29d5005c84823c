/**
 * What plugins decorate the server with, declare and use. A wrong order of `app.ts` fails by Fastify's own check of
 * what is declared.
 */
import t from 'tap'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import Fastify from '../fastify.js'
import type { FastifyPluginAsync } from 'fastify'
import orch, { server } from '../../app.js'

const ROOT = resolve(import.meta.dirname, '../../..')
const read = (file: string): string => readFileSync(resolve(ROOT, file), 'utf8')
const below = (folder: string): string[] => readdirSync(resolve(ROOT, folder), { recursive: true, encoding: 'utf8' })
  .filter(file => file.endsWith('.ts'))
  .map(file => `${folder}/${file}`)

const [, members = ''] = /interface OrchDecorators \{(.*?)\n\}/s.exec(read('plugins/shared/server.ts')) ?? []
const NAMES = [...members.matchAll(/^ {2}(orch\w+)(\??):/gm)]
  .map(([, name = '', optional]) => ({ name, optional: optional === '?' }))
const names = (text: string): string[] =>
  NAMES.map(({ name }) => name).filter(name => new RegExp(`\\b${name}\\b`).test(text))
const quoted = (text: string): string[] => [...text.matchAll(/'(orch[A-Z]\w*)'/g)].map(([, name = '']) => name)

/** A plugin: the names that its files use, provide, look up late, and declare. */
function pluginOf (file: string) {
  const files = /^plugins\/[^/]+\.ts$/.test(file) ? [file] : below(dirname(file))
  const text = files.map(read)
    .join('\n')
    .replace(/\/\*\*.*?\*\/|OrchDecorators\['\w+'\]|FastifyInstance\['\w+'\]/gs, '')
  const provided = [...text.matchAll(/decorate\('(orch[A-Z]\w*)'/g)].map(([, name = '']) => name)
  const late = [...text.matchAll(/later\(fastify, '(orch[A-Z]\w*)'/g)].map(([, name = '']) => name)
  const declared = quoted(/(?:decorators: \{\s*fastify:|const NEEDS =) \[(.*?)\]/s.exec(text)?.[1] ?? '')
  const used = names(text.replace(
    /(?:decorate|later)\((?:fastify, )?'\w+'|decorators: \{.*?\}|Having<'.*?>|const NEEDS = \[.*?\]/gs, ''
  ))
  return { file, provided, late, declared, used }
}

const PLUGINS = [...below('plugins'), 'routes/index.ts']
  .filter(file => /name: 'orch\//.test(read(file))).map(pluginOf)

t.test('each decorator is provided by one plugin, and each plugin declares what it uses', t => {
  t.ok(PLUGINS.length > 25)
  t.ok(NAMES.length > 15)
  const provided = PLUGINS.flatMap(plugin => plugin.provided)
  t.same(
    [...provided, 'orchClock', 'orchSettings'].sort(), NAMES.map(({ name }) => name).sort(), 'the last two by app.ts'
  )
  const optional = NAMES.filter(one => one.optional).map(({ name }) => name)
  for (const { file, provided, late, declared, used } of PLUGINS) {
    const needed = used.filter(name => !provided.includes(name) && !late.includes(name) && !optional.includes(name))
    t.same([...declared].sort(), needed.sort(), file)
    t.same(late.filter(name => used.includes(name)), [], `${file} looks up late what it looks up late everywhere`)
  }
  t.end()
})

t.test('a plugin that precedes one that it needs fails the boot', async t => {
  for (const { file, declared } of PLUGINS) {
    if (declared.length === 0) continue
    const { default: plugin } = await import(`../../${file.replace(/ts$/, 'js')}`) as { default: FastifyPluginAsync }
    const app = Fastify()
    await t.rejects(
      async () => await app.register(plugin, {}),
      { message: /^The (?:decorator|dependency) 'orch[^']*' (?:is )?.*'orch\// }, file
    )
    await app.close()
  }
})

/** What each may not precede: where the order of hooks is the security of the server. */
const ORDER = [
  ['orch/request-info', 'orch/security-headers'],
  ['orch/security-headers', 'orch/authentication'],
  ['orch/deadline', 'orch/authentication'],
  ['orch/authentication', 'orch/audit'],
  ['orch/audit', 'orch/impersonation'],
  ['orch/impersonation', 'orch/stalled-requests'],
  ['orch/impersonation', 'orch/in-flight-limits'],
  ['orch/impersonation', 'orch/flow-control'],
  ['orch/impersonation', 'orch/authorization'],
  ...['request-bodies', 'negotiation', 'dry-run', 'standalone'].map(later => ['orch/authorization', `orch/${later}`])
] as const

type Plugin = FastifyPluginAsync & { readonly [META]?: { readonly name: string } }
const META: unique symbol = Symbol.for('plugin-meta') as never

/** Boots with the lines of `app.ts` from one plugin up to another moved behind that one. */
async function bootMoved (first: string, second: string): Promise<void> {
  const app = Fastify({ logger: false })
  const moved: Array<() => Promise<unknown>> = []
  try {
    await app.register(async scope => {
      // one of its overloads
      const register = scope.register.bind(scope) as unknown as (plugin: Plugin, options: object) => Promise<unknown>
      let isBetween = false
      const moving = async (plugin: Plugin, options: object): Promise<void> => {
        const name = plugin[META]?.name
        if (name === first) isBetween = true
        if (isBetween && name !== second) {
          moved.push(async () => await register(plugin, options))
          return
        }
        await register(plugin, options)
        isBetween = false
        for (const run of moved.splice(0)) await run()
      }
      scope.register = moving as never
      await server(scope, { limits: { priorityAndFairness: second === 'orch/flow-control' } })
    })
    await app.ready()
  } finally {
    await app.close()
  }
}

t.test('moved lines of app.ts fail the boot where the order of hooks matters', async t => {
  for (const [first = '', second = ''] of ORDER) {
    await t.rejects(
      bootMoved(first, second),
      { message: new RegExp(`The dependency '${first}' of plugin '${second}' is not registered`) },
      `${second} needs ${first}`
    )
  }
  await bootMoved('orch/http2-sessions', 'orch/metrics')
})

t.test('a request that a host refuses before ours is answered as a Status', async t => {
  const host = Fastify()
  t.teardown(() => host.close())
  host.addHook('onRequest', async () => { throw Object.assign(new Error('not today'), { statusCode: 400 }) })
  await host.register(orch, {})
  const { statusCode, body } = await host.inject('/api/v1/pods')
  t.equal(statusCode, 400)
  t.match(JSON.parse(body), { kind: 'Status', reason: 'BadRequest', message: /not today/ })
})
