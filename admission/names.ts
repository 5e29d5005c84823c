/**
 * How clients, who write the expressions of policies, and the reviewer of images name what admission shows them. Under
 * own names they see what is stored.
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
  /** JSON of an object, parsed as its clients have it. */
  readonly object: (own: string) => unknown
  /** An AdmissionReview, as JSON. */
  readonly review: (own: string) => string
  /** What an expression asks the authorizer, from either side to the other. */
  readonly asked: (asked: Asked) => Asked
  /** By whose members clients' objects are merged. */
  readonly message: <T>(own: Message<T>) => Message<T>
  /** An object that is read as clients write it; takes over the given one. @throws DecodeError */
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
