/** Validation of the annotation that types in orch.io groups need: a URL of their approval, or a reason for having none. */
import type { Report } from '../../../language/declare.js'
import { invalid, required } from '../../../rules/findings.js'
import type { CustomResourceDefinition } from '../customresourcedefinitions.js'

const APPROVED = 'api-approved.orch.io'
const AT = `metadata.annotations[${APPROVED}]`
const WANTED = `protected groups must have approval annotation "${APPROVED}"`
const SEE = 'see https://github.com/orch/enhancements/pull/1111'
const isProtected = (group: string): boolean => group === 'orch.io' || group.endsWith('.orch.io')

type State = 'missing' | 'bypassed' | 'approved' | 'invalid'

function stateOf (annotation: string): State {
  if (annotation === '') return 'missing'
  if (annotation.startsWith('unapproved')) return 'bypassed'
  return /^[a-z][a-z0-9+.-]*:\/\/[^/?#]/i.test(annotation) && URL.canParse(annotation) ? 'approved' : 'invalid'
}

const annotationOf = ({ metadata: { annotations = {} } }: CustomResourceDefinition): string => annotations[APPROVED] ?? ''

/** Undefined for groups that need no approval. */
export function approvalState (definition: CustomResourceDefinition): { readonly state: State | undefined, readonly annotation: string } {
  const annotation = annotationOf(definition)
  return { state: isProtected(definition.spec.group) ? stateOf(annotation) : undefined, annotation }
}

/** An update need not fix an annotation that was missing or invalid before. */
export function validateApproval (definition: CustomResourceDefinition, old: CustomResourceDefinition | undefined, report: Report): void {
  if (!isProtected(definition.spec.group)) return
  const annotation = annotationOf(definition)
  const state = stateOf(annotation)
  if (old !== undefined && stateOf(annotationOf(old)) === state) return
  if (state === 'missing') required(report, AT, `${WANTED}, ${SEE}`)
  if (state === 'invalid') invalid(report, AT, annotation, `${WANTED} with either a URL or a reason starting with "unapproved", ${SEE}`)
}
