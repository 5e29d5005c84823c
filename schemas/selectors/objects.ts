/** LabelSelector as objects carry it: its rules. */
import type { Report } from '../declare.js'
import type { LabelSelector } from '../meta/options.js'
import { labelValue, qualifiedName } from '../names.js'

export function validateLabelSelector (selector: LabelSelector, at: string, report: Report): void {
  const key = (name: string, field: string) => {
    const why = qualifiedName(name)
    if (why !== undefined) report({ type: 'FieldValueInvalid', field, value: name, detail: why })
  }
  const value = (text: string, field: string) => {
    const why = labelValue(text)
    if (why !== undefined) report({ type: 'FieldValueInvalid', field, value: text, detail: why })
  }
  for (const [name, text] of Object.entries(selector.matchLabels ?? {})) {
    key(name, `${at}.matchLabels`)
    value(text, `${at}.matchLabels[${name}]`)
  }
  selector.matchExpressions?.forEach((requirement, index) => {
    const field = `${at}.matchExpressions[${index}]`
    const values = requirement.values ?? []
    switch (requirement.operator) {
      case 'In': case 'NotIn':
        if (values.length === 0) report({ type: 'FieldValueRequired', field: `${field}.values`, detail: 'must be specified when `operator` is \'In\' or \'NotIn\'' })
        break
      case 'Exists': case 'DoesNotExist':
        if (values.length > 0) report({ type: 'FieldValueForbidden', field: `${field}.values`, detail: 'may not be specified when `operator` is \'Exists\' or \'DoesNotExist\'' })
        break
      case '': break // reported as a missing field
      default: report({ type: 'FieldValueInvalid', field: `${field}.operator`, value: requirement.operator, detail: 'not a valid selector operator' })
    }
    if (requirement.key !== '') key(requirement.key, `${field}.key`)
    values.forEach((text, position) => value(text, `${field}.values[${position}]`))
  })
}
