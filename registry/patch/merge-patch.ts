import { setMember, isObject, clone } from '../../schemas/language/values.js'

/**
 * JSON merge patch (RFC 7396). Changes and returns `target` if it is an object, but never the patch, which a retry
 * applies again; the result shares nothing with it. The parser limits the depth of both.
 */
export function mergePatch (target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return clone(patch)
  const merged = isObject(target) ? target : {}
  for (const name of Object.keys(patch)) {
    const value = patch[name]
    const before = Object.hasOwn(merged, name) ? merged[name] : undefined
    if (value !== null) setMember(merged, name, mergePatch(before, value))
    else Reflect.deleteProperty(merged, name)
  }
  return merged
}
