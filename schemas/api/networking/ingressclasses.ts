/** IngressClass (v1): which controller serves an Ingress. */
import { age, name, NONE, text, type Column } from '../../columns.js'
import { one, string, type Static } from '../../language/declare.js'
import { metadata } from '../../meta/object.js'
import { resource } from '../../resource.js'
import { validateController, validateParameters } from './rules/ingresses.js'
import { kind, message } from './package.js'

export type IngressClassParametersReference = Static<typeof IngressClassParametersReference>
export const IngressClassParametersReference =
  message('IngressClassParametersReference', 'An object with parameters for an ingress class.', {
    apiGroup: string(1, 'API group of the object; empty for the core group.', { pointer: true, protoName: 'aPIGroup' }),
    kind: string(2, 'Kind of the object.', { required: true, missing: 'kind is required' }),
    name: string(3, 'Name of the object.', { required: true, missing: 'name is required' }),
    scope: string(4, 'Whether the object is of the Cluster or a Namespace.', {
      written: true, pointer: true, default: 'Cluster'
    }),
    namespace: string(5, 'Namespace of the object; required with scope Namespace.', { pointer: true })
  }, { validate: (object, at, report) => { validateParameters(object, at, report) } })

export type IngressClassSpec = Static<typeof IngressClassSpec>
export const IngressClassSpec = message('IngressClassSpec', 'Controller of an ingress class and its parameters.', {
  controller: string(1, 'Name of the controller, such as acme.io/ingress-controller; does not change.', {
    immutable: true, maxLength: 250
  }),
  parameters: one(
    2, 'Object with further parameters for the controller.', IngressClassParametersReference, { pointer: true }
  )
}, { validate: ({ controller }, at, report) => { validateController(controller, `${at}.controller`, report) } })

export type IngressClass = Static<typeof IngressClass>
export const IngressClass = kind('IngressClass', 'A class of ingresses and the controller that serves it.', {
  metadata,
  spec: one(2, 'Controller of the class and its parameters.', IngressClassSpec)
})

function parametersOf ({ spec: { parameters } }: IngressClass): string {
  if (parameters === undefined) return NONE
  const { kind, apiGroup, name } = parameters
  return `${kind}${apiGroup === undefined ? '' : `.${apiGroup}`}/${name}`
}

const columns: ReadonlyArray<Column<IngressClass>> = [
  name,
  text('Controller', 'Controller that serves the class.', ({ spec }) => spec.controller),
  text('Parameters', 'Object with parameters for the controller.', parametersOf),
  age
]

export const ingressClasses = resource(IngressClass, {
  plural: 'ingressclasses',
  namespaced: false,
  generation: ({ spec }) => spec,
  columns
})
