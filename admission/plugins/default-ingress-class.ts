/**
 * DefaultIngressClass: gives an ingress the default class if neither its field nor its legacy annotation names one. If
 * there are several default classes, it takes the newest; before release 1.25 it refuses. (Enabled by default.)
 */
import { ingresses, type Ingress } from '../../schemas/api/networking/ingresses.js'
import { pluginFor, type AdmissionPlugin } from '../../registry/admission.js'
import type { Gates } from '../../schemas/gates.js'
import { defaultClass } from '../default-class.js'

const CLASS = 'orch.io/ingress.class'
const DEFAULT = 'ingressclass.orch.io/is-default-class'

export const defaultIngressClass = (
  { gates }: { readonly gates: Gates }
): AdmissionPlugin => pluginFor<Ingress>(ingresses, {
  name: 'DefaultIngressClass',
  operations: ['CREATE'],
  mutate: async request => {
    const { object, reader } = request
    if (object === undefined || object.spec.ingressClassName !== undefined ||
      object.metadata.annotations?.[CLASS] !== undefined) return
    const classes = await reader.list('networking.orch.io', 'ingressclasses', '')
    const marked = classes.filter(({ metadata }) => metadata.annotations?.[DEFAULT] === 'true')
    const name = defaultClass(request, {
      marked, mayBeSeveral: gates.enabled('IngressGetsNewestClass'),
      problem: `${marked.length} default IngressClasses were found, only 1 allowed`
    })
    if (name !== undefined) object.spec.ingressClassName = name
  }
})
