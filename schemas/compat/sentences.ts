/**
 * Sentences that this server wrote, with public names in them. It repeats public names only from a client's own text.
 */
import { KINDS } from './names.js'
import { representations } from '../resources.js'
import { translatePath } from './requests.js'
import {
  namesOf, ofGroup, translateGroup, translateKey, translateNamespace, translateUser, type Translation
} from './text.js'

/** Longer words are no names. */
const MAX_NAME = 500
/** Groups of a user; something in quotation marks with the word before it, which says what it is; or a word alone. */
const NAMES = /\bgroups(?:=\[| )(?:"(?:[^"\\]|\\.)*",? ?)+|(?:([\w.-]+) )?"([^"\s]*)"|[\w.:/-]+/g
const QUOTED = /"((?:[^"\\]|\\.)*)"/g

const same: Translation = name => name
const roles = namesOf('rbac.authorization.orch.io', 'clusterroles') ?? same
/** `NAME/NAMESPACE`, as reasons of RBAC have it. */
const inNamespace = (of: Translation): Translation => text => {
  const slash = text.lastIndexOf('/')
  return slash < 0 ? of(text) : `${of(text.slice(0, slash))}/${translateNamespace(text.slice(slash + 1))}`
}
/** Words before a name, besides types: `in the namespace "orch-system"`. */
const KINDS_OF_NAMES: ReadonlyMap<string, Translation> = new Map([
  ['namespace', translateNamespace], ['node', same], ['group', translateGroup],
  ['User', translateUser], ['user', translateUser], ['Group', translateUser], ['ServiceAccount', inNamespace(same)],
  ['ClusterRole', roles], ['Role', roles], ['ClusterRoleBinding', roles], ['RoleBinding', inNamespace(roles)]
])
/** Plurals and kinds that the API has. */
const types = new Set([
  ...representations.flatMap(({ group, plural, kind }) => [`${group}/${plural}`, `${group}/${kind}`]),
  ...KINDS.map(([group, plural]) => `${group}/${plural}`)
])

/**
 * What translates the names of a type that a sentence calls `roles.rbac.authorization.orch.io` or
 * `Role.rbac.authorization.orch.io`.
 */
function namesAfter (word: string): Translation | undefined {
  const known = KINDS_OF_NAMES.get(word)
  if (known !== undefined) return known
  const dot = word.indexOf('.')
  const [type, group] = dot < 0 ? [word, ''] : [word.slice(0, dot), word.slice(dot + 1)]
  return dot > 0 || types.has(`/${type}`) ? namesOf(group, type) ?? same : undefined
}

/** A sentence, list of them, or path of a field. */
export const publicWords = (text: string): string =>
  text.replaceAll('/vnd.orch.', '/vnd.kubernetes.').replace(NAMES, translateMatch)

function translateMatch (all: string, before: string | undefined, quoted: string | undefined): string {
  if (quoted === undefined) {
    if (!all.includes('"')) return publicWord(all)
    return all.replace(QUOTED, (_whole, group: string) => `"${translateUser(group)}"`)
  }
  if (before === undefined) return `"${publicWord(quoted)}"`
  const names = namesAfter(before)
  // What is of a type is named after its group, in which own names may be public ones.
  return `${names === undefined ? publicWord(before) : ofGroup(before)} "${(names ?? publicWord)(quoted)}"`
}

/** Maps with keys in the path of a field: `.metadata.labels.orch.io/os`. */
const PATH_TO_KEY = /(?:^|\.)(?:labels|annotations|matchLabels|nodeSelector|selector|hard|used|extra)\.(?=[^.])/
const EXTENSION = /(^|\.)x-orch-/g

/** A name that is one by itself. Those of objects are not: `orch` may be anything. */
function publicWord (word: string): string {
  if (word.length > MAX_NAME || !(word.includes('orch') || word.includes('node-agent'))) return word
  if (word.startsWith('/')) return translatePath(word)
  const end = word.length - (/[.:]+$/.exec(word)?.[0].length ?? 0)
  const path = PATH_TO_KEY.exec(word)
  const from = path === null ? 0 : path.index + path[0].length
  const named = word.slice(0, from) + translateWord(word.slice(from, end)) + word.slice(end)
  return named.replace(EXTENSION, '$1x-kubernetes-')
}

const configMaps = namesOf('', 'configmaps') ?? same

function translateWord (word: string): string {
  for (const of of [translateGroup, translateKey, translateNamespace, translateUser, roles, configMaps, ofGroup]) {
    const other = of(word)
    if (other !== word) return other
  }
  return word
}
