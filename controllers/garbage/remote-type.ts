/** A type of an extension server, which is listed and watched through this server. */
import { isObject } from '../../schemas/language/values.js'
import {
  pathOf, type Change, type CollectedType, type KindName, type Place, type Progress, type Step
} from './collected-type.js'
import { stateOf, type ObjectState } from './object-state.js'
import { readObject, Refused, type Requests } from './requests.js'

/** Objects in an answer, which is read at once. */
const PAGE = 250

export interface RemoteResource {
  readonly plural: string
  readonly kind: string
  readonly namespaced: boolean
  readonly verbs: readonly string[]
}

export class RemoteType implements CollectedType {
  readonly isOwn = false
  readonly keys = undefined
  readonly label: string
  readonly namespaced: boolean
  readonly kinds: readonly KindName[]
  readonly #plural: string
  readonly #requests: Requests

  /** @param apiVersions the preferred one first */
  constructor (
    apiVersions: readonly [string, ...string[]], { plural, kind, namespaced }: RemoteResource, requests: Requests
  ) {
    const [group = ''] = apiVersions[0].split('/')
    this.label = `${plural}.${group}`
    this.namespaced = namespaced
    this.kinds = apiVersions.map(apiVersion => ({ apiVersion, kind }))
    this.#plural = plural
    this.#requests = requests
  }

  pathOf ({ namespace, name }: Place): string {
    return pathOf(this.kinds[0]?.apiVersion ?? '', this.#plural, { namespace, name })
  }

  read (place: Place): Promise<ObjectState | undefined> { return readObject(this.#requests, this.pathOf(place)) }

  async isThere ({ uid, ...place }: Pick<ObjectState, 'namespace' | 'name' | 'uid'>): Promise<boolean> {
    return (await this.read(place))?.uid === uid
  }

  /** Its revisions cannot be compared. */
  async newest (): Promise<undefined> {}

  async * follow (signal: AbortSignal, progress: Progress): AsyncGenerator<Step, void, void> {
    const collection = this.pathOf({ namespace: '', name: '' })
    let version = ''
    for (let token = '', more = true; more && !signal.aborted;) {
      const path = `${collection}?limit=${PAGE}${token === '' ? '' : `&continue=${encodeURIComponent(token)}`}`
      const answer = await this.#requests.ask({ method: 'GET', path })
      const list = isObject(answer.body) ? answer.body : {}
      if (answer.code !== 200 || !Array.isArray(list['items'])) throw new Refused({ method: 'GET', path }, answer)
      yield list['items'].flatMap(item => changeOf(item, false))
      const metadata = isObject(list['metadata']) ? list['metadata'] : {}
      version = String(metadata['resourceVersion'] ?? '')
      token = String(metadata['continue'] ?? '')
      more = token !== ''
    }
    yield 'listed'
    progress.reach(0)
    const path = `${collection}?watch=true&allowWatchBookmarks=true&resourceVersion=${encodeURIComponent(version)}`
    for await (const event of this.#requests.watch(path, signal)) {
      const { type, object } = isObject(event) ? event : {}
      if (type === 'BOOKMARK') continue
      if (type !== 'ADDED' && type !== 'MODIFIED' && type !== 'DELETED') return
      yield changeOf(object, type === 'DELETED')
    }
  }
}

function changeOf (object: unknown, isDeleted: boolean): Change[] {
  const { metadata } = isObject(object) ? object : {}
  const { namespace = '', name } = isObject(metadata) ? metadata : {}
  if (typeof name !== 'string' || typeof namespace !== 'string') return []
  return [{ key: `${namespace}/${name}`, state: isDeleted ? undefined : () => stateOf(object) }]
}
