/**
 * Creates fixtures through the API of the server, so that they are defaulted, admitted and validated like all objects
 * of clients. CustomResourceDefinitions come first, then namespaces, including those that fixtures only refer to, then
 * all other objects in the given order.
 */
import type { ResourceRegistry } from '../registry/resource-registry.js'
import type { ResourceStore } from '../registry/resource-store.js'
import type { FixtureObject, SourcedObject } from './fixtures.js'
import type { Sender } from './sender.js'

interface Definition {
  readonly group: string, readonly names: { readonly plural: string },
  readonly versions?: ReadonlyArray<{ readonly name: string, readonly served: boolean }>
}

/** Milliseconds until a definition is served. */
const SERVED_WITHIN = 20_000

/** @throws Error that names the fixture and says why the server refused it */
export async function load (all: readonly SourcedObject[], send: Sender, resources: ResourceRegistry): Promise<void> {
  const isDefinition = ({ object: { kind, apiVersion } }: SourcedObject): boolean =>
    kind === 'CustomResourceDefinition' && apiVersion.startsWith('apiextensions.')
  const definitions = all.filter(isDefinition)
  for (const one of definitions) await create(one, send, resources)
  for (const one of definitions) await served(one, send, resources)

  const others = all.filter(one => !isDefinition(one))
  const isNamespace = ({ object: { kind, apiVersion } }: SourcedObject): boolean => kind === 'Namespace' &&
    apiVersion === 'v1'
  const namespaces = others.filter(isNamespace)
  const known = new Set(namespaces.map(({ object }) => object.metadata.name))
  for (const { object: { metadata: { namespace } }, source } of others) {
    if (namespace === undefined || known.has(namespace)) continue
    known.add(namespace)
    namespaces.push({ object: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }, source })
  }
  for (const one of [...namespaces, ...others.filter(one => !isNamespace(one))]) await create(one, send, resources)
}

const describe = ({ object: { kind, metadata: { namespace, name } }, source }: SourcedObject): string =>
  `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name ?? '?'} (${source})`

function storeOf (one: SourcedObject, resources: ResourceRegistry): ResourceStore {
  const { object: { apiVersion, kind } } = one
  const found = resources.served().find(({ representation }) => representation.apiVersion === apiVersion &&
    representation.kind === kind)
  if (found === undefined) throw new Error(`fixture ${describe(one)}: the server has no kind ${kind} in ${apiVersion}`)
  return found
}

async function create (one: SourcedObject, send: Sender, resources: ResourceRegistry): Promise<void> {
  const { representation: { group, version, plural, subresources }, type: { namespaced } } = storeOf(one, resources)
  const { object } = one
  const { name, namespace = 'default' } = object.metadata
  const collection =
    `${group === '' ? '/api' : `/apis/${group}`}/${version}${namespaced ? `/namespaces/${namespace}` : ''}/${plural}`
  let answer = await send('POST', collection, object)
  // Created by the server at its start, or by an earlier load.
  if (answer.code === 409 && name !== undefined && answer.reason === 'AlreadyExists') {
    answer = isBare(object) ? { code: 200, object, reason: '' } : await send('PUT', `${collection}/${name}`, object)
  }
  if (answer.code < 300 && object.status !== undefined && subresources.some(({ name }) => name === 'status')) {
    const { metadata } = answer.object
    answer = await send('PUT', `${collection}/${metadata.name ?? ''}/status`, {
      ...answer.object, status: object.status
    })
  }
  if (answer.code >= 300) {
    throw new Error(`fixture ${describe(one)}: ${answer.code} ${answer.reason}: ${String(answer.object['message'])}`)
  }
}

/** True for a Namespace with nothing but a name. */
const isBare = ({ kind, metadata, ...rest }: FixtureObject): boolean => kind === 'Namespace' &&
  Object.keys(metadata).length === 1 && Object.keys(rest).length === 1

/** Resolves once each version of the definition is served. */
async function served (one: SourcedObject, send: Sender, resources: ResourceRegistry): Promise<void> {
  const { group, names: { plural }, versions = [] } = one.object['spec'] as Definition // the server has validated it
  const isServed = (): boolean => versions.every(({ name, served }) => !served ||
    resources.lookup({ group, version: name, resource: plural }) !== undefined)
  let stop = (): void => {}
  let timer: NodeJS.Timeout | undefined
  try {
    await new Promise<void>((resolve, reject) => {
      const check = (): void => { if (isServed()) resolve() }
      stop = resources.onChange(check)
      timer = setTimeout(
        () => { reject(new Error(`fixture ${describe(one)}: it is not served after ${SERVED_WITHIN / 1000} s`)) },
        SERVED_WITHIN
      )
      check()
    })
  } catch (error) {
    const { object } = await send(
      'GET', `/apis/${one.object.apiVersion}/customresourcedefinitions/${one.object.metadata.name ?? ''}`
    )
    const { conditions = [] } = (object.status ?? {}) as { conditions?: Array<{ status: string, message?: string }> }
    const [refusal] = conditions.filter(({ status }) => status === 'False')
    throw new Error(`${(error as Error).message}${refusal === undefined ? '' : `: ${refusal.message ?? ''}`}`)
  } finally {
    stop()
    clearTimeout(timer)
  }
}
