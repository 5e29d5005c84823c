/** The condition that says whether a type in a protected group was approved. */
import { approvalState } from '../../schemas/api/apiextensions/rules/approval.js'
import type { Gates } from '../../schemas/gates.js'
import type {
  CustomResourceDefinition, CustomResourceDefinitionCondition as Condition
} from '../../schemas/api/apiextensions/customresourcedefinitions.js'

const TYPE = 'KubernetesAPIApprovalPolicyConformant'
type Finding = Pick<Condition, 'type' | 'status' | 'reason' | 'message'>

/** Undefined for groups outside the protected domains. */
export function approvalOf (definition: CustomResourceDefinition, gates: Gates): Finding | undefined {
  const { state, annotation } = approvalState(definition, gates)
  switch (state) {
    case undefined: return undefined
    case 'approved':
      return { type: TYPE, status: 'True', reason: 'ApprovedAnnotation', message: `approved in ${annotation}` }
    case 'bypassed':
      return {
        type: TYPE, status: 'False', reason: 'UnapprovedAnnotation',
        message: `not approved: ${JSON.stringify(annotation)}`
      }
    case 'invalid':
      return {
        type: TYPE, status: 'False', reason: 'InvalidAnnotation',
        message: 'protected groups need an approval annotation with a URL or a reason that begins with "unapproved", ' +
          `not ${JSON.stringify(annotation)}`
      }
    default:
      return {
        type: TYPE, status: 'False', reason: 'MissingAnnotation',
        message: 'protected groups must have an approval annotation'
      }
  }
}
