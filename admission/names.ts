/**
 * The names under which admission shows objects to the expressions of policies, which clients write, and to the webhook
 * that reviews images. Where clients use own names, these see what is stored.
 */
import type { Asked } from '../expressions/authorizer.js'
import { ResourceAttributes } from '../schemas/api/authorization/accessreviews.js'
import { parseLong } from '../schemas/codec/json/exact.js'
import { decode, type Decoded } from '../schemas/language/decode.js'
import type { Message } from '../schemas/language/types.js'
import { OWN_NAMES, type Naming } from '../schemas/naming.js'

export interface AdmissionNames {
  /** False where what is shown is what is stored, so that it can be read without writing JSON. */
  readonly renames: boolean
  /** A group, or `GROUP/VERSION`. */
  readonly group: (own: string) => string
  /** Domains of labels that are the system's because they have no other name, and those of them that nodes may set. */
  readonly labelDomains: { readonly system: readonly string[], readonly nodes: readonly string[] }
  /** The spec of an ImageReview. */
  readonly images: <T extends ImageSpec>(own: T) => T
  /** Parses the JSON of a stored object into what its clients see, under their names. */
  readonly object: (own: string) => unknown
  /** An AdmissionReview, as JSON. */
  readonly review: (own: string) => string
  /** Renames what an expression asks the authorizer: own names to the clients', or back. */
  readonly asked: (asked: Asked) => Asked
  /** The message with the members that the clients' JSON has, for merging. */
  readonly message: <T>(own: Message<T>) => Message<T>
  /** Decodes an object under clients' names, and renames it in place. @throws DecodeError */
  readonly decode: Decode
}

export type Decode = <T>(message: Message<T>, value: unknown) => Decoded<T>

export interface ImageSpec {
  readonly annotations?: Readonly<Record<string, string>>
  readonly namespace?: string
}

const same = <T>(own: T): T => own

export const OWN_ADMISSION_NAMES: AdmissionNames = {
  renames: false,
  group: same,
  labelDomains: OWN_NAMES.labelDomains,
  images: same,
  object: parseLong,
  review: same,
  asked: same,
  message: same,
  decode
}

export function admissionNames (naming: Naming): AdmissionNames {
  if (!naming.renames) return OWN_ADMISSION_NAMES
  return {
    renames: true,
    group: naming.group,
    labelDomains: naming.labelDomains,
    images: own => imagesAs(own, naming),
    object: own => {
      const { body } = naming.review(`{"apiVersion":"","request":{"object":${own}}}`)
      return (parseLong(body) as { request: { object: unknown } }).request.object // this server wrote it
    },
    review: own => naming.review(own).body,
    asked: asked => askedAs(asked, naming),
    message: naming.message,
    decode: (message, value) => decode(naming.message(message), naming.value(message, value))
  }
}

function imagesAs<T extends ImageSpec> (own: T, { key, namespace }: Naming): T {
  const named = ([name, value]: [string, string]): [string, string] => [key(name), value]
  return {
    ...own,
    ...(own.annotations === undefined
      ? {}
      : { annotations: Object.fromEntries(Object.entries(own.annotations).map(named)) }),
    ...(own.namespace === undefined ? {} : { namespace: namespace(own.namespace) })
  }
}

function askedAs (asked: Asked, naming: Naming): Asked {
  const { path, serviceAccount, group = '', resource = '', subresource = '', namespace = '', name = '' } = asked
  return {
    ...path === undefined ? {} : { path: naming.path(path) },
    ...serviceAccount === undefined
      ? {}
      : { serviceAccount: { ...serviceAccount, namespace: naming.namespace(serviceAccount.namespace) } },
    ...naming.value(ResourceAttributes, { group, resource, subresource, namespace, name }),
    ...selectorsAs(asked, naming)
  }
}

/** As in the query of such a request. */
function selectorsAs (
  { group = '', resource = '', fieldSelector, labelSelector }: Asked, naming: Naming
): Pick<Asked, 'fieldSelector' | 'labelSelector'> {
  if (fieldSelector === undefined && labelSelector === undefined) return {}
  const sent = new URLSearchParams({ fieldSelector: fieldSelector ?? '', labelSelector: labelSelector ?? '' })
  const query = new URLSearchParams(naming.query(sent.toString(), `/apis/${group}/*/${resource}`))
  return { fieldSelector: query.get('fieldSelector') ?? '', labelSelector: query.get('labelSelector') ?? '' }
}
