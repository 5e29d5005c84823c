/** Derives a value from an object once, and keeps it as long as the object lives. */
export function oncePer<K extends object, T extends NonNullable<unknown>> (derive: (key: K) => T): (key: K) => T {
  const known = new WeakMap<K, T>()
  return key => {
    let derived = known.get(key)
    if (derived === undefined) known.set(key, derived = derive(key))
    return derived
  }
}
