/**
 * The objects of a request in another version of a custom type, to which a webhook converts. Each state of an object is
 * converted once for a request.
 */
import { parseExactly } from '../../schemas/codec/json/exact.js'
import { UNBOUNDED } from '../../schemas/codec/json/parse.js'
import { decode } from '../../schemas/language/decode.js'
import type { Message } from '../../schemas/language/types.js'
import { clone } from '../../schemas/language/values.js'
import { apiVersionOf } from '../../schemas/groups.js'
import { oncePer } from '../../schemas/once-per.js'
import type { AdmissionRequest } from '../../registry/admission.js'
import type { Siblings } from '../../registry/resource-store.js'
import type { Decode } from '../names.js'
import { unconverted } from './refusals.js'
import type { DirectVersion, RequestedVersion } from './requested-version.js'

type Members = Record<string, unknown>

export interface ConvertedPair {
  /** That of the request's objects. */
  readonly own: DirectVersion
  readonly other: DirectVersion & { readonly message: Message }
}

/** By version, and JSON in the request's own version. */
const conversionsOf = oncePer((_request: AdmissionRequest) => new Map<string, Promise<Members>>())

const unbounded: Decode = (message, value) => decode(message, value, UNBOUNDED)

export function convertedVersion (
  request: AdmissionRequest, { own, other }: ConvertedPair, { convert }: Siblings
): RequestedVersion {
  /** By JSON in the request's own version. As upstream, what was changed is not converted again for the next hook. */
  const views = new Map<string, Members>()
  const converted = async (json: string, { kind: { group, version } }: DirectVersion): Promise<unknown> =>
    (await convert([parseExactly(Buffer.from(json)) as object], apiVersionOf(group, version)))[0]
  const viewOf = async (json: string): Promise<Members> =>
    unbounded(other.message, await converted(json, other)).object as Members
  const viewed = (object: Members): Members => {
    const view = views.get(own.json(object))
    if (view === undefined) throw new TypeError(`${other.kind.kind} is shown before it was prepared`)
    return view
  }
  const back = async (object: Members, changed: Members): Promise<void> => {
    const answer = await converted(other.json(changed), own)
    own.put(object, answer, unbounded)
    views.set(own.json(object), changed)
  }
  const { shown: show } = other
  return {
    ...other,
    json: object => other.json(viewed(object)),
    shown: show === undefined ? undefined : object => show(viewed(object)),
    put: (object, changed, decoding) => {
      const before = viewed(object)
      const after = clone(before)
      const unknown = other.put(after, changed, decoding)
      if (other.json(after) === other.json(before)) return unknown
      return back(object, after).then(() => unknown, unconverted)
    },
    prepare: async objects => {
      const conversions = conversionsOf(request)
      for (const json of objects.map(own.json)) {
        if (views.has(json)) continue
        const key = `${other.kind.version} ${json}`
        let conversion = conversions.get(key)
        if (conversion === undefined) conversions.set(key, conversion = viewOf(json))
        views.set(json, await conversion)
      }
    }
  }
}
