/** Validation of the annotation that types in protected groups need: the URL of an approval, or why there is none. */
import type { Gates } from '../../../gates.js'
import type { Report } from '../../../language/declare.js'
import { PUBLIC_DOMAINS } from '../../../public-names.js'
import { invalid, required } from '../../../rules/findings.js'
import type { CustomResourceDefinition } from '../customresourcedefinitions.js'

const APPROVED = 'api-approved.orch.io'
const AT = `metadata.annotations[${APPROVED}]`
const WANTED = `protected groups must have approval annotation "${APPROVED}"`
const SEE = 'see https://github.com/orch/enhancements/pull/1111'
const OWN_DOMAINS = ['orch.io']

/** Where clients may use public names, public domains are protected, and ours only where it stands for one. */
function isProtected ({ spec: { group } }: CustomResourceDefinition, { publicGroup }: Gates): boolean {
  const named = publicGroup?.(group) ?? group
  const domains = publicGroup === undefined ? OWN_DOMAINS : PUBLIC_DOMAINS
  return domains.some(domain => named === domain || named.endsWith(`.${domain}`))
}

type State = 'missing' | 'bypassed' | 'approved' | 'invalid'

function stateOf (annotation: string): State {
  if (annotation === '') return 'missing'
  if (annotation.startsWith('unapproved')) return 'bypassed'
  return /^[a-z][a-z0-9+.-]*:\/\/[^/?#]/i.test(annotation) && URL.canParse(annotation) ? 'approved' : 'invalid'
}

const annotationOf = ({ metadata: { annotations = {} } }: CustomResourceDefinition): string =>
  annotations[APPROVED] ?? ''

export interface Approval {
  /** Undefined for groups that need no approval. */
  readonly state: State | undefined
  readonly annotation: string
}

export function approvalState (definition: CustomResourceDefinition, gates: Gates): Approval {
  const annotation = annotationOf(definition)
  return { state: isProtected(definition, gates) ? stateOf(annotation) : undefined, annotation }
}

/** An update need not fix an annotation that was missing or invalid before. */
export function validateApproval (
  definition: CustomResourceDefinition, old: CustomResourceDefinition | undefined, report: Report, gates: Gates
): void {
  if (!isProtected(definition, gates)) return
  const annotation = annotationOf(definition)
  const state = stateOf(annotation)
  if (old !== undefined && stateOf(annotationOf(old)) === state) return
  if (state === 'missing') required(report, AT, `${WANTED}, ${SEE}`)
  if (state === 'invalid') {
    invalid(report, AT, annotation, `${WANTED} with either a URL or a reason starting with "unapproved", ${SEE}`)
  }
}
