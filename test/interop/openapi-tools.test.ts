/**
 * Tools of others and the documents: a validator finds no fault, and a typed client is generated, compiles and lists
 * pods.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import t, { type Test } from 'tap'
import { listen, type Client } from '../build.js'

const root = resolve(import.meta.dirname, '../../..')

/** A package of the registry, typed by the part that is used here. */
const tool = async <T>(name: string): Promise<T> => await import(name) as T

interface Parser { default: { validate: (document: object, options: object) => Promise<unknown> } }
interface Generator {
  default: (document: object, options: object) => Promise<unknown>
  astToString: (tree: unknown) => string
}

/** Of version 3. */
interface Document {
  readonly paths: Record<string, unknown>
  readonly components: Record<string, Record<string, unknown>>
}

async function documents (server: Client): Promise<Array<readonly [string, object]>> {
  const { paths } = (await server.get('/openapi/v3')).json as { paths: Record<string, { serverRelativeURL: string }> }
  const urls = ['/openapi/v2', ...Object.values(paths).map(({ serverRelativeURL }) => serverRelativeURL)]
  return await Promise.all(urls.map(async url => [url.split('?', 1)[0] ?? '', (await server.get(url)).json] as const))
}

/** Every `$ref` of a document. */
const references = (value: unknown): string[] => typeof value !== 'object' || value === null
  ? []
  : Object.entries(value).flatMap(([name, each]) =>
      name === '$ref' && typeof each === 'string' ? [each] : references(each))

/** The documents of version 3 as one, because most types are in many of them, and then have to be the same. */
function merged (t: Test, all: ReadonlyArray<readonly [string, Document]>): Document {
  const whole: Document = { ...all[0]?.[1] as Document, paths: {}, components: {} }
  const add = (name: string, from: object, to: Record<string, unknown>): void => {
    for (const [key, value] of Object.entries(from)) {
      if (JSON.stringify(to[key] ?? value) !== JSON.stringify(value)) {
        t.strictSame(value, to[key], `${name} has another ${key}`)
      }
      to[key] = value
    }
  }
  for (const [name, { paths, components, ...rest }] of all) {
    t.same({ ...whole, ...rest }, whole, `${name} begins like the others`)
    const known = Object.keys(components.schemas ?? {}).map(key => `#/components/schemas/${key}`)
    t.same(
      references({ paths, components }).filter(to => !known.includes(to)), [], `${name} refers to types that it has`
    )
    add(name, paths, whole.paths)
    for (const [kind, values] of Object.entries(components)) add(name, values, whole.components[kind] ??= {})
  }
  return whole
}

t.test('a validator finds no fault in any document, neither in its form nor in what it means', async t => {
  const { default: parser } = await tool<Parser>('@apidevtools/swagger-parser')
  const validate = (document: object, dereference: object): Promise<unknown> =>
    parser.validate(document, { dereference })
  const [second, ...third] = await documents(await listen(t, { api: { disabled: [] } }))
  t.ok(third.length > 20)
  for (const [name, document, dereference] of [
    ['version 2', second?.[1] as object, { circular: 'ignore' }],
    // or each type is checked again wherever it is used
    ['version 3', merged(t, third as Array<[string, Document]>), { excludedPathMatcher: () => true }]
  ] as const) {
    await t.rejects(
      validate({ ...document, info: {}, paths: {} }, dereference), /title/, `${name}: one that has a fault is refused`
    )
    await t.resolves(validate(document, dereference), name)
  }
})

const CLIENT = `
import createClient from 'openapi-fetch'
import type { paths } from './core.js'

export async function podNames (baseUrl: string, namespace: string): Promise<Array<string | undefined>> {
  const client = createClient<paths>({ baseUrl })
  const { error } = await client.POST('/api/v1/namespaces/{namespace}/pods', {
    params: { path: { namespace }, query: { fieldValidation: 'Strict' } },
    body: {
      metadata: { name: 'typed' },
      spec: {
        containers: [
          {
            name: 'main',
            image: 'image',
            ports: [{ containerPort: 80 }],
            readinessProbe: { tcpSocket: { port: 'http' } }
          }
        ]
      }
    }
  })
  if (error !== undefined) throw new Error(JSON.stringify(error))
  const { data } = await client.GET('/api/v1/namespaces/{namespace}/pods', {
    params: { path: { namespace }, query: { limit: 5 } }
  })
  return data?.items.map(pod => pod.metadata?.name) ?? []
}

export const wrong = () => createClient<paths>({ baseUrl: '' }).GET('/api/v1/namespaces/{namespace}/pods', {
  // @ts-expect-error -- the generated types are not any
  params: { path: { namespace: 1 } }
})
`
t.test('a client that is generated from the document of the core group compiles and lists pods', async t => {
  const server = await listen(t)
  const { default: generate, astToString } = await tool<Generator>('openapi-typescript')
  const { json } = await server.get('/openapi/v3/api/v1')
  mkdirSync(join(root, '.cache'), { recursive: true })
  const folder = mkdtempSync(join(root, '.cache/typed-client-'))
  symlinkSync(join(root, 'test/node_modules'), join(folder, 'node_modules'))
  t.teardown(() => { rmSync(folder, { recursive: true, force: true }) })
  const compilerOptions = {
    strict: true,
    exactOptionalPropertyTypes: true,
    module: 'nodenext',
    target: 'es2022',
    lib: ['es2022', 'dom'],
    types: []
  }
  const write = (name: string, text: string): void => { writeFileSync(join(folder, name), text) }
  write('package.json', '{ "type": "module" }')
  write('tsconfig.json', JSON.stringify({ compilerOptions, include: ['*.ts'] }))
  // what has a default need not be sent
  write('core.ts', astToString(await generate(json, { defaultNonNullable: false })))
  write('client.ts', CLIENT)
  const compiled = spawnSync(
    process.execPath, [join(root, 'node_modules/typescript-native/bin/tsc'), '--project', folder], { encoding: 'utf8' }
  )
  t.match(compiled, { status: 0, stdout: '' })
  const { podNames } = await tool<{
    podNames: (url: string, namespace: string) => Promise<string[]>
  }>(pathToFileURL(join(folder, 'client.js')).href)
  t.same(await podNames(server.url, 'default'), ['typed'])
  t.ok(readFileSync(join(folder, 'core.ts'), 'utf8').includes(
    '"io.orch.apimachinery.pkg.util.intstr.IntOrString": number | string'
  ))
})
