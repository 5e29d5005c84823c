/** Warnings about files of volumes of which one would hide the other. */
import type { Warn } from '../../../rules/warned.js'
import type { PodSpec } from '../pod-spec.js'
import type { ProjectedVolumeSource } from '../pod-volumes.js'

interface File { readonly path: string, readonly from: string }
interface Items { readonly items?: ReadonlyArray<{ readonly path: string }> | undefined }

const KINDS = ['configMap', 'secret', 'downwardAPI'] as const

export function warnOfPaths ({ volumes = [] }: PodSpec, at: string, warn: Warn): void {
  for (const [index, volume] of volumes.entries()) {
    const path = `${at}.volumes[${index}]`
    for (const kind of KINDS) {
      const source: Items | undefined = volume[kind]
      if (source !== undefined) overlaps(filesOf(source, `${path}.${kind}`), warn)
    }
    if (volume.projected !== undefined) warnOfProjection(volume.projected, `${path}.projected`, warn)
  }
}

const filesOf = ({ items = [] }: Items, at: string): File[] =>
  items.map(({ path }, index) => ({ path, from: `${at}.items[${index}]` }))

function warnOfProjection ({ sources = [] }: ProjectedVolumeSource, at: string, warn: Warn): void {
  const files: File[] = []
  for (const [index, source] of sources.entries()) {
    const path = `${at}.sources[${index}]`
    const { serviceAccountToken: token } = source
    for (const kind of KINDS) {
      const items: Items | undefined = source[kind]
      if (items !== undefined) files.push(...filesOf(items, `${path}.${kind}`))
    }
    if (token !== undefined) files.push({ path: token.path, from: `${path}.serviceAccountToken` })
    if (Object.keys(source).length === 0) warn(`${path}: no source is given`)
  }
  overlaps(files, warn)
}

/** Each file that is another one, or a folder of it, or in it. */
function overlaps (files: readonly File[], warn: Warn): void {
  const folders = new Map<string, File>()
  const paths = new Map<string, File>()
  for (const file of files) {
    const parents = parentsOf(file.path)
    const other = paths.get(file.path) ?? folders.get(file.path) ??
      parents.map(parent => paths.get(parent)).find(taken => taken !== undefined)
    if (other !== undefined) {
      const [one, another] = [file.path, other.path].map(path => JSON.stringify(path))
      warn(`${file.from}: its path ${one} overlaps ${another} of ${other.from}`)
    }
    paths.set(file.path, file)
    for (const parent of parents) folders.set(parent, file)
  }
}

/** The folders of a path: `a` and `a/b` of `a/b/c`. */
function parentsOf (path: string): string[] {
  const parts = path.split('/')
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('/'))
}
