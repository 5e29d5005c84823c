/**
 * Creates fixtures through the API of the server, so that they are defaulted, admitted and validated like all objects
 * of clients. CustomResourceDefinitions come first, then namespaces, including those that fixtures only refer to, then
 * all other objects in the given order.
 */
import type { ResourceRegistry } from '../registry/resource-registry.js'
import type { ResourceStore } from '../registry/resource-store.js'
import type { FixtureObject, SourcedObject } from './fixtures.js'
import type { Answer, Sender } from './sender.js'
import { didYouMean } from '../config/suggestions.js'
import { adviceOnGroup } from '../schemas/upstream-groups.js'

/** What the server has, and how clients may name it. */
export interface Known {
  readonly resources: ResourceRegistry
  /** Another name that clients may have for a group, or `GROUP/VERSION`; undefined where they have none. */
  readonly otherGroup: ((own: string) => string) | undefined
}

interface Definition {
  readonly group: string, readonly names: { readonly plural: string },
  readonly versions?: ReadonlyArray<{ readonly name: string, readonly served: boolean }>
}

/** Refuses fields that the server does not know, with their paths, as they are mistakes. */
const STRICT = '?fieldValidation=Strict'

/** For the command `dev` and for `testServer`. */
const OTHER_NAMES = '; with --compat-names, or { server: { compatNames: true } }, it has the names of Kubernetes too'

/** Milliseconds until a definition is served. */
const SERVED_WITHIN = 20_000

/** @throws Error that names the fixture and says why the server refused it */
export async function load (all: readonly SourcedObject[], send: Sender, known: Known): Promise<void> {
  const isDefinition = ({ object: { kind, apiVersion } }: SourcedObject): boolean =>
    kind === 'CustomResourceDefinition' && apiVersion.startsWith('apiextensions.')
  const definitions = all.filter(isDefinition)
  for (const definition of definitions) await create(definition, send, known)
  for (const definition of definitions) await served(definition, send, known)

  const others = all.filter(object => !isDefinition(object))
  const isNamespace = ({ object: { kind, apiVersion } }: SourcedObject): boolean => kind === 'Namespace' &&
    apiVersion === 'v1'
  const namespaces = others.filter(isNamespace)
  const there = new Set(namespaces.map(({ object }) => object.metadata.name))
  for (const { object: { metadata: { namespace } }, source } of others) {
    if (namespace === undefined || there.has(namespace)) continue
    there.add(namespace)
    namespaces.push({ object: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }, source })
  }
  for (const object of [...namespaces, ...others.filter(sourced => !isNamespace(sourced))]) {
    await create(object, send, known)
  }
}

const describe = ({ object: { kind, metadata: { namespace, name } }, source }: SourcedObject): string =>
  `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name ?? '?'} (${source})`

function storeOf (fixture: SourcedObject, { resources, otherGroup }: Known): ResourceStore {
  const { object: { apiVersion, kind } } = fixture
  const named = new Set([apiVersion, otherGroup?.(apiVersion)])
  const inVersion = resources.served().filter(({ representation }) => named.has(representation.apiVersion))
  const store = inVersion.find(({ representation }) => representation.kind === kind)
  if (store === undefined) {
    const [group = ''] = apiVersion.split('/')
    const kinds = inVersion.map(({ representation }) => representation.kind)
    const advice = otherGroup !== undefined || adviceOnGroup(group) === '' ? didYouMean(kind, kinds) : OTHER_NAMES
    throw new Error(`fixture ${describe(fixture)}: the server has no kind ${kind} in ${apiVersion}${advice}`)
  }
  return store
}

async function create (fixture: SourcedObject, send: Sender, known: Known): Promise<void> {
  const { representation: { plural, subresources }, type: { namespaced } } = storeOf(fixture, known)
  const { object } = fixture
  const { apiVersion, metadata: { name, namespace = 'default' } } = object
  const collection =
    `/${apiVersion.includes('/') ? 'apis' : 'api'}/${apiVersion}` +
    `${namespaced ? `/namespaces/${namespace}` : ''}/${plural}`
  let answer = await send('POST', `${collection}${STRICT}`, object)
  // Created by the server at its start, or by an earlier load.
  if (answer.code === 409 && name !== undefined && answer.reason === 'AlreadyExists') {
    answer = isBare(object) ? { code: 200, object, reason: '' } : await replace(`${collection}/${name}`, object, send)
  }
  if (answer.code < 300 && object.status !== undefined && subresources.some(({ name }) => name === 'status')) {
    const { metadata } = answer.object
    answer = await send('PUT', `${collection}/${metadata.name ?? ''}/status${STRICT}`, {
      ...answer.object, status: object.status
    })
  }
  if (answer.code >= 300) {
    throw new Error(
      `fixture ${describe(fixture)}: ${answer.code} ${answer.reason}: ${String(answer.object['message'])}`
    )
  }
}

/** Some types are only replaced in a version that the request names. */
async function replace (path: string, object: FixtureObject, send: Sender): Promise<Answer> {
  const present = await send('GET', path)
  if (present.code >= 300) return present
  const { resourceVersion } = present.object.metadata
  return await send('PUT', path + STRICT, { ...object, metadata: { resourceVersion, ...object.metadata } })
}

/** True for a Namespace with nothing but a name. */
const isBare = ({ kind, metadata, ...rest }: FixtureObject): boolean => kind === 'Namespace' &&
  Object.keys(metadata).length === 1 && Object.keys(rest).length === 1

/** Resolves once each version of the definition is served. */
async function served (fixture: SourcedObject, send: Sender, known: Known): Promise<void> {
  // the server has validated it
  const { group, names: { plural }, versions = [] } = fixture.object['spec'] as Definition
  const isServed = (): boolean => versions.every(({ name, served }) => !served ||
    known.resources.lookup({ group, version: name, resource: plural }) !== undefined)
  let stop = (): void => {}
  let timer: NodeJS.Timeout | undefined
  try {
    await new Promise<void>((resolve, reject) => {
      const check = (): void => { if (isServed()) resolve() }
      stop = known.resources.onChange(check)
      timer = setTimeout(
        () => { reject(new Error(`fixture ${describe(fixture)}: it is not served after ${SERVED_WITHIN / 1000} s`)) },
        SERVED_WITHIN
      )
      check()
    })
  } catch (error) {
    const { object } = await send(
      'GET', `/apis/${fixture.object.apiVersion}/customresourcedefinitions/${fixture.object.metadata.name ?? ''}`
    )
    const { conditions = [] } = (object.status ?? {}) as { conditions?: Array<{ status: string, message?: string }> }
    const [refusal] = conditions.filter(({ status }) => status === 'False')
    throw new Error(`${(error as Error).message}${refusal === undefined ? '' : `: ${refusal.message ?? ''}`}`)
  } finally {
    stop()
    clearTimeout(timer)
  }
}
