/** The client: what it is asked becomes a request of this process, and the answer an object. */
import type { UserInfo } from '../schemas/meta/user-info.js'
import { groupsOf } from '../auth/default-groups.js'
import type { Client, ClientOptions, InformerOptions, OwnClient, Schema, TypeName, User } from './contract.js'
import { TypeInformer } from './informer.js'
import { TypedObjects } from './typed-objects.js'
import { requestServer, type Asker, type RequestServer } from './requests.js'
import { checkOptions, CLIENT, INFORMER } from './options.js'
import { typeNameOf } from './types.js'
import type { Whole } from '../plugins/shared/plugin.js'

const MANAGER = 'orch-client'

class TypedClient {
  readonly server: RequestServer
  readonly asker: Asker

  constructor (server: RequestServer, asker: Asker) {
    this.server = server
    this.asker = asker
  }

  of (schema: Schema | TypeName, name?: TypeName): TypedObjects {
    return new TypedObjects({ server: this.server, asker: this.asker, type: typeNameOf(schema, name) })
  }
}

class ServerClient extends TypedClient {
  as (user: User, options: ClientOptions = {}): TypedClient {
    return new TypedClient(this.server, { ...this.#asker(options), user: userInfo(user) })
  }

  with (options: ClientOptions): ServerClient { return new ServerClient(this.server, this.#asker(options)) }

  informer (schema: Schema | TypeName, options: InformerOptions<object> & { type?: TypeName } = {}): TypeInformer {
    checkOptions(options, INFORMER)
    return new TypeInformer(this.server, typeNameOf(schema, options.type), options)
  }

  #asker (options: ClientOptions): Asker {
    checkOptions(options, CLIENT)
    const { fieldManager = this.asker.manager, warn = this.asker.warn } = options
    return { ...this.asker, manager: fieldManager, warn }
  }
}

/**
 * @throws TypeError without a name: a host that knows nobody must not ask as somebody; for groups or extra that are not
 * lists of strings, which would be those of somebody else
 */
function userInfo ({ username, uid = '', groups = [], extra = {} }: User): UserInfo {
  if (typeof username !== 'string' || username === '') {
    throw new TypeError('client.as needs a username; it is system:anonymous of a request without one')
  }
  if (typeof uid !== 'string') throw new TypeError('the uid of a user is a string')
  const extras = Object.entries(extra).map(([key, values]) => [key, textsOf(values, `extra.${key}`)] as const)
  return { username, uid, groups: groupsOf(username, textsOf(groups, 'groups')), extra: Object.fromEntries(extras) }
}

/** A copy, so that later changes of the caller change nothing. */
function textsOf (values: readonly string[], what: string): readonly string[] {
  if (Array.isArray(values) && values.every(value => typeof value === 'string')) return [...values]
  throw new TypeError(`${what} of a user: a list of strings`)
}

/** @param fastify in which all plugins have registered */
export function clientOf (fastify: Whole): OwnClient {
  const warn = (text: string): void => { fastify.log.warn({ warning: text }, 'a request of this process is warned') }
  const client = new ServerClient(requestServer(fastify), { user: undefined, manager: MANAGER, warn })
  return client as OwnClient & Client // typed by the schemas that callers give
}
