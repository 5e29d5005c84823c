/**
 * DefaultIngressClass: sets the default class of ingresses without one, by field or by legacy annotation. Refused if
 * there are several default classes. (Enabled by default.)
 */
import { ingresses, type Ingress } from '../../schemas/api/networking/ingresses.js'
import { pluginFor } from '../../registry/admission.js'
import { refusal } from '../refusal.js'

const CLASS = 'orch.io/ingress.class'
const DEFAULT = 'ingressclass.orch.io/is-default-class'

export const defaultIngressClass = pluginFor<Ingress>(ingresses, {
  name: 'DefaultIngressClass',
  operations: ['CREATE'],
  mutate: async request => {
    const { object, reader } = request
    if (object === undefined || object.spec.ingressClassName !== undefined ||
      object.metadata.annotations?.[CLASS] !== undefined) return
    const classes = (await reader.list('networking.orch.io', 'ingressclasses', ''))
      .filter(({ metadata }) => metadata.annotations?.[DEFAULT] === 'true')
    if (classes.length > 1) {
      throw refusal(
        request, `Internal error occurred: ${classes.length} default IngressClasses were found, only 1 allowed`
      )
    }
    const name = classes[0]?.metadata.name
    if (name !== undefined) object.spec.ingressClassName = name
  }
})
