/**
 * Selectors of access reviews: text or requirements. Unknown operators are accepted, as clients may be newer; what
 * authorizers do not get is said in the answer.
 */
import { readable, type Selectors } from '../../auth/selectors.js'
import type { ResourceAttributes } from '../../schemas/api/authorization/accessreviews.js'
import type { Report } from '../../schemas/language/types.js'
import { labelValue, qualifiedName } from '../../schemas/names.js'
import { checkName, invalid, required } from '../../schemas/rules/findings.js'
import { fieldRequirements } from '../../schemas/selectors/fields.js'
import { labelRequirements } from '../../schemas/selectors/labels.js'
import { validateOperands } from '../../schemas/selectors/objects.js'
import type { SelectorRequirement } from '../../schemas/selectors/requirement.js'

const AT = 'spec.resourceAttributes'

interface Given { readonly key: string, readonly operator: string, readonly values?: readonly string[] | undefined }
interface Selector { readonly rawSelector?: string | undefined, readonly requirements?: readonly Given[] | undefined }

export function validateSelectors (
  { fieldSelector, labelSelector }: Pick<ResourceAttributes, 'fieldSelector' | 'labelSelector'>, report: Report
): void {
  validate(fieldSelector, `${AT}.fieldSelector`, report, ({ key }, at) => {
    if (key === '') required(report, `${at}.key`, 'must be specified')
  })
  validate(labelSelector, `${AT}.labelSelector`, report, ({ key, values = [] }, at) => {
    checkName(report, `${at}.key`, key, qualifiedName)
    for (const [index, value] of values.entries()) checkName(report, `${at}.values[${index}]`, value, labelValue)
  })
}

function validate (
  selector: Selector | undefined, at: string, report: Report, visit: (requirement: Given, at: string) => void
): void {
  if (selector === undefined) return
  const { rawSelector = '', requirements = [] } = selector
  if (rawSelector !== '' && requirements.length > 0) {
    invalid(report, `${at}.rawSelector`, rawSelector, 'may not be specified at the same time as requirements')
  }
  if (rawSelector === '' && requirements.length === 0) {
    required(report, `${at}.requirements`, `when ${at} is specified, requirements or rawSelector is required`)
  }
  for (const [index, requirement] of requirements.entries()) {
    const field = `${at}.requirements[${index}]`
    validateOperands(requirement, field, report)
    visit(requirement, field)
  }
}

/** What authorizers get, and what they do not. */
export function selectorsOf (
  { fieldSelector, labelSelector }: Pick<ResourceAttributes, 'fieldSelector' | 'labelSelector'>
): { readonly selectors?: Selectors, readonly ignored: readonly string[] } {
  if (fieldSelector === undefined && labelSelector === undefined) return { ignored: [] }
  const ignored: string[] = []
  const requirementsOf = (
    name: string, { rawSelector = '', requirements = [] }: Selector, read: (text: string) => SelectorRequirement[],
    isKnown: (requirement: Given) => boolean
  ): SelectorRequirement[] => {
    const known = rawSelector === '' ? requirements.filter(isKnown).map(plain) : readable(read, rawSelector)
    if (known === undefined || (rawSelector === '' && known.length < requirements.length)) {
      ignored.push(`${AT}.${name} ${(known ?? []).length > 0 ? 'partially ' : ''}ignored due to parse error`)
    }
    return known ?? []
  }
  const fields = requirementsOf('fieldSelector', fieldSelector ?? {}, fieldRequirements, ({ operator, values = [] }) =>
    (operator === 'In' || operator === 'NotIn') && values.length === 1)
  const labels = requirementsOf('labelSelector', labelSelector ?? {}, labelRequirements, ({ operator }) =>
    OPERATORS.has(operator))
  return { selectors: { fields, labels }, ignored }
}

const OPERATORS: ReadonlySet<string> = new Set(['In', 'NotIn', 'Exists', 'DoesNotExist'])

const plain = ({ key, operator, values = [] }: Given): SelectorRequirement =>
  ({ key, operator: operator as SelectorRequirement['operator'], ...values.length === 0 ? {} : { values } }) // known
