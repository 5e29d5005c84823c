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
    if (value !==
      null) setMember(merged, name, mergePatch(Object.hasOwn(merged, name) ? merged[name] : undefined, value))
    else if (Object.hasOwn(merged, name)) Reflect.deleteProperty(merged, name)
  }
  return merged
}
