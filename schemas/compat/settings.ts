/** Names in settings, public ones of `--compat-names` and ours, under our names. */
import { isOwnGroup } from './names.js'
import { translateGroup, type Translation } from './text.js'

const ownGroup: Translation = group => isOwnGroup(group) ? group : translateGroup(group)

/** `GROUP/VERSION`, `GROUP/VERSION/RESOURCE` or `GROUP/RESOURCE`, and what follows. */
export function ownPath (text: string): string {
  const slash = text.indexOf('/')
  return slash < 1 ? text : ownGroup(text.slice(0, slash)) + text.slice(slash)
}

/** `RESOURCE.GROUP`. */
export function ownResource (text: string): string {
  const dot = text.indexOf('.')
  return dot < 1 ? text : text.slice(0, dot + 1) + ownGroup(text.slice(dot + 1))
}
