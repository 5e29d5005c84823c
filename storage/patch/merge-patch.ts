/** JSON merge patch (RFC 7396). */

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value)

/** A plain property whatever its name, `__proto__` too. */
function put (object: Record<string, unknown>, name: string, value: unknown): void {
  if (name === '__proto__') Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true })
  else object[name] = value
}

/** Changes and returns `target` where it is an object. Depth is bounded by the parser of both. */
export function mergePatch (target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch
  const merged = isObject(target) ? target : {}
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) {
      if (Object.hasOwn(merged, name)) Reflect.deleteProperty(merged, name)
    } else {
      put(merged, name, mergePatch(Object.hasOwn(merged, name) ? merged[name] : undefined, value))
    }
  }
  return merged
}
