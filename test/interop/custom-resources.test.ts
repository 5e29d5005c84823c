/** Definitions like those of widely used projects, all on one server, and what people do with their objects. */
import t, { type Test } from 'tap'
import { readdirSync, readFileSync } from 'node:fs'
import type { Json } from '../build.js'
import { DEFINITIONS, OBJECTS, definitionOf, definitions, objects, pathOf, playOf } from './custom-plays.js'
import { Kubectl, programs } from './kubectl.js'
import { ServerHere, until } from './server.js'

/** Kinds that are tested concurrently: kubectl waits as much as it works. */
const AT_ONCE = 4
const found = programs()
const escape = (text: string): string => text.replace(/[.[\]]/g, '\\$&')
/** Lists are replaced. */
const merged = (base: Json, over: Json): Json => ({
  ...base,
  ...Object.fromEntries(Object.entries(over).map(([name, value]) => [
    name, isObject(value) && isObject(base[name]) ? merged(base[name], value) : value as unknown
  ]))
})
const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)
const lines = (out: string, ending: string): string[] => out.split('\n').filter(line => line.endsWith(ending))

/** Writes the status that the object's controller would write. Returns the object. */
async function report (server: ServerHere, object: Json, status: Json): Promise<void> {
  const path = `${pathOf(object)}/one`
  const { versions } = definitionOf(object['kind'] as string)['spec']
  const place = versions[0].subresources?.status === undefined ? path : `${path}/status`
  const { code, body } = await server.ask(place, 'PUT', {
    ...JSON.parse((await server.ask(path)).body) as Json, status
  })
  if (code !== 200) throw new Error(body)
}

async function play (t: Test, server: ServerHere, kubectl: Kubectl, object: Json): Promise<void> {
  const kind = object['kind'] as string
  const { explain: [field, type], status, row, edit: [from, to], conflict: [spec, conflicting], scale } = playOf(kind)
  const { names } = definitionOf(kind)['spec']
  // With its version: otherwise kubectl takes the first part of a group for one, and repeats discovery.
  const [group, version] = (object['apiVersion'] as string).split('/')
  const resource = [names.plural, version, group].join('.')

  t.match(
    await kubectl.ok('explain', `${names.plural as string}.${field}`),
    new RegExp(`^(?:FIELD|RESOURCE): +${field.split('.').at(-1)} <${escape(type)}>`, 'm')
  )
  if (status !== undefined) await report(server, object, status)
  // By a list: for one named object kubectl does not print the change with which its watch begins.
  const watching = kubectl.begin(
    t, 'get', resource, '--field-selector=metadata.name=one', '--watch', '--output-watch-events', '--output=wide'
  )
  await watching.shows(new RegExp(`^ADDED +one +${escape(row).replaceAll(' ', ' +')}$`, 'm'))
  const editor = kubectl.file(
    `edit-${names.singular as string}`, `#!/bin/sh\nexec sed -i '/last-applied/,+1!s|${from}$|${to}|' "$1"\n`, 0o755
  )
  t.match(
    await kubectl.run(['edit', resource, 'one'], { EDITOR: editor }), { code: 0, out: /one edited/ },
    `${kind} is edited`
  )
  await watching.shows(/^MODIFIED +one/m)

  const { apiVersion } = object
  const file = kubectl.file(`${kind}.json`, { ...object, spec: merged(object['spec'] as Json, spec) })
  const apply = ['apply', '--server-side', '--field-manager=other', '--validate=false', `--filename=${file}`]
  const refused = await kubectl.refused(...apply)
  t.match(
    refused,
    new RegExp(
      `conflicts? with "kubectl-(?:client-side-apply|edit)"[^]*${escape(`${apiVersion as string}`)}[^]*` +
      `${escape(conflicting)}$`,
      'm'
    ),
    kind
  )
  t.match(await kubectl.json(...apply, '--force-conflicts'), { spec }, `${kind} is applied`)

  if (scale !== undefined) {
    const [from, to, place] = scale
    t.match(
      await kubectl.refused('scale', resource, 'one', `--replicas=${to}`, '--current-replicas=99'),
      new RegExp(`Expected replicas to be 99, was ${from}`)
    )
    t.match(await kubectl.ok('scale', resource, 'one', `--replicas=${to}`, `--current-replicas=${from}`), /one scaled/)
    t.equal(await kubectl.ok('get', resource, 'one', `--output=jsonpath={.${place}}`), String(to))
  }

  const deleting = kubectl.begin(t, 'delete', resource, 'one')
  await until(`${kind} to be marked`, async () =>
    (JSON.parse((await server.ask(`${pathOf(object)}/one`)).body) as Json)['metadata'].deletionTimestamp !== undefined)
  t.match(
    await kubectl.ok(
      'patch', resource, 'one', '--type=json', '--patch=[{"op":"remove","path":"/metadata/finalizers"}]'
    ),
    /one patched/
  )
  t.equal(await deleting.end(), 0, deleting.err)
  await watching.shows(/^DELETED +one/m)
  await watching.stop()
}

/** Every item whose turn it is, of as many turns as there are programs: so each step is taken with every program. */
const partOf = <T>(all: readonly T[], turn: number): T[] => all.filter((_, at) => at % found.length === turn)
const TEXTS = readFileSync(OBJECTS, 'utf8').split(/^---\n/m)

t.test(`${definitions.length} definitions with kubectl ` +
  `${found.map(({ version }) => version).join(' and ')}`, async t => {
  const server = await ServerHere.start(t)
  const versions = async (): Promise<Json> => Object.fromEntries(await Promise.all(objects.map(async object => [
    object['kind'], (JSON.parse((await server.ask(`${pathOf(object)}/one`)).body) as Json)['metadata'].resourceVersion
  ])))
  const users = found.map((program, turn) => ({
    kubectl: new Kubectl(t, program, server.tokenConfig()),
    files: partOf(readdirSync(DEFINITIONS), turn).map(name => `--filename=${DEFINITIONS}/${name}`),
    texts: partOf(TEXTS, turn),
    left: partOf(objects, turn)
  }))
  const sum = (counts: readonly number[]): number => counts.reduce((one, other) => one + other)
  /** The number of lines with that ending that each program prints. */
  const printed = async (
    ending: string, args: (user: typeof users[number]) => readonly string[]
  ): Promise<number[]> => {
    const counts: number[] = []
    for (const user of users) counts.push(lines(await user.kubectl.ok(...args(user)), ending).length)
    return counts
  }
  const [every, each] = [definitions.length, users.map(() => definitions.length)]

  t.equal(sum(await printed(' created', ({ files }) => ['apply', ...files])), every)
  t.strictSame(await printed(' condition met', () => ['wait', '--for=condition=Established', 'crd', '--all']), each)
  t.strictSame(await printed(' unchanged', () => ['apply', `--filename=${DEFINITIONS}`]), each)

  t.equal(TEXTS.length, objects.length)
  t.strictSame(
    await printed(
      ' created', ({ kubectl, texts }) => ['apply', `--filename=${kubectl.file('objects.yaml', texts.join('---\n'))}`]
    ),
    users.map(({ left }) => left.length)
  )
  const before = await versions()
  t.strictSame(await printed(' created', () => ['apply', `--filename=${OBJECTS}`]), users.map(() => 0))
  t.strictSame(await versions(), before, 'nothing is left to apply')

  for (const { kubectl, left } of users) {
    t.ok(left.some(({ kind }) => playOf(kind as string).scale !== undefined))
    await Promise.all(Array.from({ length: AT_ONCE }, async () => {
      for (let object = left.shift(); object !== undefined; object = left.shift()) {
        await play(t, server, kubectl, object)
      }
    }))
  }

  t.equal(sum(await printed(' deleted', ({ files }) => ['delete', ...files])), every)
  t.strictSame(
    await printed('', () => ['api-resources', '--api-group=certificates.example.org', '--no-headers']),
    users.map(() => 1), 'an empty line'
  )
})
