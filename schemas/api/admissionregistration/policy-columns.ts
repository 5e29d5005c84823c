/** Cells of policies and bindings. */
import { UNSET } from '../../columns.js'
import type { ParamKind, ParamRef } from './policies.js'

export const paramKindCell = (of: ParamKind | undefined): string =>
  of === undefined ? UNSET : `${of.apiVersion ?? ''}/${of.kind ?? ''}`

export function paramRefCell (of: ParamRef | undefined): string {
  const { name = '', namespace = '', selector } = of ?? {}
  if (name !== '') return `${namespace === '' ? '*' : namespace}/${name}`
  return selector === undefined ? UNSET : JSON.stringify(selector)
}
